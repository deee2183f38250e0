// A small engine without Python, each variant with a bottleneck put there. fifth_engine NAME…
// What is known stands beside each name, written before any page was read.
#include <cstdio>
#include <cstring>
#include <chrono>
#include <thread>
#include <mutex>
#include <condition_variable>
#include <string>
#include <vector>
#include <unistd.h>
#include <functional>
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>
#define OK(x) do { auto e = (x); if (e) { printf("FAILED %s %d\n", #x, (int)e); exit(1); } } while (0)
using Clock = std::chrono::steady_clock;
static double ms(Clock::time_point a) { return std::chrono::duration<double, std::milli>(Clock::now() - a).count(); }
static void spin(double t) { auto a = Clock::now(); while (ms(a) < t); }
__global__ void rms_norm(__half *y, const __half *x, int n) { __shared__ float s[256]; float a = 0; for (int i = threadIdx.x; i < n; i += 256) { float v = __half2float(x[blockIdx.x * n + i]); a += v * v; } s[threadIdx.x] = a; __syncthreads(); for (int k = 128; k; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); } float r = rsqrtf(s[0] / n + 1e-5f); for (int i = threadIdx.x; i < n; i += 256) y[blockIdx.x * n + i] = __float2half(__half2float(x[blockIdx.x * n + i]) * r); }
__global__ void silu(__half *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { float v = __half2float(x[i]); x[i] = __float2half(v / (1 + expf(-v))); } }
__global__ void argmax_kernel(int *out, const __half *x, int n) { if (threadIdx.x == 0) { float b = -1e9; int k = 0; for (int i = 0; i < 64; i++) if (__half2float(x[blockIdx.x * n + i]) > b) { b = __half2float(x[blockIdx.x * n + i]); k = i; } out[blockIdx.x] = k; } }
struct Model {
  int L = 12, h = 2048, m = 8192, b = 8; std::vector<__half *> w1, w2; __half *x, *y, *z; int *out, host[512]; cublasHandle_t c; cudaStream_t s; __half one, zero;
  Model(int layers = 12, int batch = 8) : L(layers), b(batch) { one = __float2half(1.f); zero = __float2half(0.f); OK(cudaStreamCreate(&s)); OK((int)cublasCreate(&c)); cublasSetStream(c, s); for (int l = 0; l < L; l++) { __half *p; OK(cudaMalloc(&p, 2ull * h * m)); cudaMemset(p, 0, 2ull * h * m); w1.push_back(p); OK(cudaMalloc(&p, 2ull * h * m)); cudaMemset(p, 0, 2ull * h * m); w2.push_back(p); } OK(cudaMalloc(&x, 2ull * b * h)); OK(cudaMalloc(&y, 2ull * b * m)); OK(cudaMalloc(&z, 2ull * b * h)); OK(cudaMalloc(&out, 4 * b)); cudaMemset(x, 0, 2ull * b * h); }
  void layer(int l) { rms_norm<<<b, 256, 0, s>>>(z, x, h); cublasHgemm(c, CUBLAS_OP_N, CUBLAS_OP_N, m, b, h, &one, w1[l], m, z, h, &zero, y, m); silu<<<(b * m + 255) / 256, 256, 0, s>>>(y, b * m); cublasHgemm(c, CUBLAS_OP_N, CUBLAS_OP_N, h, b, m, &one, w2[l], h, y, m, &zero, x, h); }
  void pass() { for (int l = 0; l < L; l++) layer(l); argmax_kernel<<<b, 32, 0, s>>>(out, x, h); }
  void fetch() { OK(cudaMemcpyAsync(host, out, 4 * b, cudaMemcpyDeviceToHost, s)); OK(cudaStreamSynchronize(s)); }
};
static double timed(std::function<void()> f, int n) { for (int i = 0; i < 3; i++) f(); cudaDeviceSynchronize(); auto a = Clock::now(); for (int i = 0; i < n; i++) f(); cudaDeviceSynchronize(); return ms(a) / n; }
static void window(const char *name, std::function<void()> f, int n, std::function<void()> without = nullptr) {
  double w = without ? timed(without, n) : 0, p = timed(f, n); cudaProfilerStart(); auto a = Clock::now(); for (int i = 0; i < n; i++) f(); cudaDeviceSynchronize(); double t = ms(a) / n; cudaProfilerStop(); usleep(300000);
  printf("DONE {\"name\": \"%s\", \"mode\": \"nsys\", \"steps\": %d, \"plain_ms\": %.3f, \"profiled_ms\": %.3f, \"without_ms\": %.3f}\n", name, n, p, t, w); fflush(stdout);
}
int main(int n, char **v) {
  for (int k = 1; k < n; k++) { std::string a = v[k]; Model m;
    if (a == "c_hostfunc") {  // known: a function of the host (2 ms) sits in the stream in the middle of the pass: the GPU waits for it. Pair: without
      auto go = [&](bool f) { for (int l = 0; l < m.L; l++) { m.layer(l); if (f && l == 6) cudaLaunchHostFunc(m.s, [](void *) { spin(2); }, nullptr); } argmax_kernel<<<m.b, 32, 0, m.s>>>(m.out, m.x, m.h); m.fetch(); };
      window("c_hostfunc", [&] { go(true); }, 20, [&] { go(false); });
    } else if (a == "c_batcher") {  // known: a thread waits on a condition variable for batches another thread prepares for 6 ms each (C++, no GIL). Pair: nothing to prepare
      std::mutex mu; std::condition_variable cv; int ready = 0, taken = 0; bool stop = false;
      std::thread t([&] { while (true) { spin(6); std::unique_lock<std::mutex> l(mu); ready++; cv.notify_all(); cv.wait(l, [&] { return stop || taken == ready; }); if (stop) return; } });
      window("c_batcher", [&] { { std::unique_lock<std::mutex> l(mu); cv.wait(l, [&] { return ready > taken; }); taken++; cv.notify_all(); } m.pass(); m.fetch(); }, 20, [&] { m.pass(); m.fetch(); });
      { std::unique_lock<std::mutex> l(mu); stop = true; cv.notify_all(); } t.join();
    } else if (a == "c_serial_streams") {  // known: two halves of the layers' products could run side by side but each waits for the other's event: the GPU is busy, one small kernel at a time; busy for memory
      cudaStream_t s2; cudaStreamCreate(&s2); cudaEvent_t e1, e2; cudaEventCreateWithFlags(&e1, cudaEventDisableTiming); cudaEventCreateWithFlags(&e2, cudaEventDisableTiming); cudaStream_t s1 = m.s;
      window("c_serial_streams", [&] { for (int l = 0; l < m.L; l++) { m.s = l % 2 ? s2 : s1; cublasSetStream(m.c, m.s); m.layer(l); cudaEventRecord(l % 2 ? e2 : e1, m.s); cudaStreamWaitEvent(l % 2 ? s1 : s2, l % 2 ? e2 : e1, 0); } m.s = s1; cublasSetStream(m.c, s1); argmax_kernel<<<m.b, 32, 0, s1>>>(m.out, m.x, m.h); m.fetch(); }, 20);
    } else if (a == "c_small_copies") {  // known: 400 copies of 256 bytes from pageable memory before each pass (block tables, one request at a time). Pair: one copy
      std::vector<char> h(102400); char *d; cudaMalloc(&d, 102400);
      window("c_small_copies", [&] { for (int i = 0; i < 400; i++) cudaMemcpyAsync(d + i * 256, h.data() + i * 256, 256, cudaMemcpyHostToDevice, m.s); m.pass(); m.fetch(); }, 20, [&] { cudaMemcpyAsync(d, h.data(), 102400, cudaMemcpyHostToDevice, m.s); m.pass(); m.fetch(); });
    } else if (a == "c_cpu_layers") {  // known: 4 of 16 layers are computed on the CPU by 8 threads (as if they did not fit): the model's own work. Pair: all on the GPU
      std::vector<float> w(1 << 22, .01f), in(2048, 1.f), o(2048);
      auto cpu = [&] { cudaMemcpyAsync(m.host, m.x, 2048, cudaMemcpyDeviceToHost, m.s); cudaStreamSynchronize(m.s); std::vector<std::thread> ts; for (int t = 0; t < 8; t++) ts.emplace_back([&, t] { for (int r = 0; r < 4; r++) for (int i = t * 256; i < t * 256 + 256; i++) { float a = 0; for (int j = 0; j < 2048; j++) a += w[(size_t)i * 2048 + j] * in[j]; o[i] = a; } }); for (auto &t : ts) t.join(); cudaMemcpyAsync(m.x, o.data(), 2048, cudaMemcpyHostToDevice, m.s); };
      window("c_cpu_layers", [&] { for (int l = 0; l < 12; l++) { if (l % 3 == 2) cpu(); else m.layer(l); } argmax_kernel<<<m.b, 32, 0, m.s>>>(m.out, m.x, m.h); m.fetch(); }, 20, [&] { m.pass(); m.fetch(); });
    }
    for (auto p : m.w1) cudaFree(p); for (auto p : m.w2) cudaFree(p); cublasDestroy(m.c);
  }
  fflush(stdout); _exit(0);
}
