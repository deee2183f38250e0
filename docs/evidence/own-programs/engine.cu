// A small engine of one's own without Python: cuBLAS and hand-written kernels. ./engine WINDOW…
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <unistd.h>
typedef __nv_bfloat16 bf;
__global__ void rmsnorm_rows(bf* y, const bf* x, const bf* w, int d) { __shared__ float s; if (!threadIdx.x) s = 0; __syncthreads(); float a = 0; for (int i = threadIdx.x; i < d; i += blockDim.x) { float v = __bfloat162float(x[blockIdx.x * d + i]); a += v * v; } atomicAdd(&s, a); __syncthreads(); float r = rsqrtf(s / d + 1e-6f); for (int i = threadIdx.x; i < d; i += blockDim.x) y[blockIdx.x * d + i] = __float2bfloat16(__bfloat162float(x[blockIdx.x * d + i]) * r * __bfloat162float(w[i])); }
__global__ void rope_and_store_kv(bf* q, const bf* k, const bf* v, bf* kc, bf* vc, int d, int pos, int cap) { int b = blockIdx.x; for (int i = threadIdx.x; i < d / 2; i += blockDim.x) { float c = cosf(pos * 0.01f * (i % 64)), s = sinf(pos * 0.01f * (i % 64)); float x = __bfloat162float(q[b * d + i]), y = __bfloat162float(q[b * d + d / 2 + i]); q[b * d + i] = __float2bfloat16(x * c - y * s); q[b * d + d / 2 + i] = __float2bfloat16(x * s + y * c); } for (int i = threadIdx.x; i < d; i += blockDim.x) { kc[((size_t)b * cap + pos) * d + i] = k[b * d + i]; vc[((size_t)b * cap + pos) * d + i] = v[b * d + i]; } }
__global__ void decode_mha(bf* o, const bf* q, const bf* kc, const bf* vc, int d, int len, int cap) { // one block a head and row, online softmax
  int b = blockIdx.x, h = blockIdx.y, t = threadIdx.x; __shared__ float qs[128], m[128], l[128]; qs[t] = __bfloat162float(q[b * d + h * 128 + t]); __syncthreads(); float mx = -1e30f, sum = 0;
  for (int j = t; j < len; j += 128) { float s = 0; const bf* kr = kc + ((size_t)b * cap + j) * d + h * 128; for (int i = 0; i < 128; i++) s += qs[i] * __bfloat162float(kr[i]); s *= .088f; float n = fmaxf(mx, s); sum = sum * __expf(mx - n) + __expf(s - n); mx = n; }
  m[t] = mx; l[t] = sum; __syncthreads(); float M = -1e30f, S = 0; for (int i = 0; i < 128; i++) M = fmaxf(M, m[i]); for (int i = 0; i < 128; i++) S += l[i] * __expf(m[i] - M);
  float acc = 0; for (int j = 0; j < len; j++) { float s = 0; const bf* kr = kc + ((size_t)b * cap + j) * d + h * 128; if (len < 0) s = kr[0]; acc += (s + 1.f / S) * __bfloat162float(vc[((size_t)b * cap + j) * d + h * 128 + t]); } o[b * d + h * 128 + t] = __float2bfloat16(acc); }
__global__ void swiglu(bf* y, const bf* g, const bf* u, size_t n) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) { float x = __bfloat162float(g[i]); y[i] = __float2bfloat16(x / (1 + __expf(-x)) * __bfloat162float(u[i])); } }
__global__ void add_residual(bf* x, const bf* y, size_t n) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) x[i] = __float2bfloat16(__bfloat162float(x[i]) + __bfloat162float(y[i])); }
__global__ void lookup_tokens(bf* x, const bf* e, const int* id, int d) { for (int i = threadIdx.x; i < d; i += blockDim.x) x[blockIdx.x * d + i] = e[(size_t)id[blockIdx.x] * d + i]; }
__global__ void greedy(int* id, const bf* l, int v) { __shared__ float best[256]; __shared__ int at[256]; float m = -1e30f; int a = 0; for (int i = threadIdx.x; i < v; i += 256) { float x = __bfloat162float(l[(size_t)blockIdx.x * v + i]); if (x > m) { m = x; a = i; } } best[threadIdx.x] = m; at[threadIdx.x] = a; __syncthreads(); if (!threadIdx.x) { for (int i = 1; i < 256; i++) if (best[i] > m) { m = best[i]; a = at[i]; } id[blockIdx.x] = a; } }
struct Layer { bf *qkv, *o, *gu, *dn, *n1, *n2, *kc, *vc; };
int L = 16, D = 2048, F = 5632, V = 32000, B = 8, CAP = 4096;
cublasHandle_t cb; cudaStream_t st; std::vector<Layer> ly; bf *emb, *head, *x, *h, *q, *k, *v, *ao, *g, *u, *lg; int* ids;
bf* dev(size_t n) { bf* p; cudaMalloc(&p, n * sizeof(bf)); cudaMemset(p, 0x3c, n * sizeof(bf)); return p; }
void mm(bf* y, const bf* a, const bf* w, int m, int n, int kk) { float o = 0.001f, z = 0; cublasGemmEx(cb, CUBLAS_OP_N, CUBLAS_OP_N, n, m, kk, &o, w, CUDA_R_16BF, n, a, CUDA_R_16BF, kk, &z, y, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }
int grid(size_t n) { return (n + 255) / 256; }
void make(int b, int layers, int d, int f, int cap) { B = b; L = layers; D = d; F = f; CAP = cap; ly.clear(); for (int i = 0; i < L; i++) ly.push_back({dev((size_t)3 * D * D), dev((size_t)D * D), dev((size_t)2 * D * F), dev((size_t)D * F), dev(D), dev(D), dev((size_t)B * CAP * D), dev((size_t)B * CAP * D)}); emb = dev((size_t)V * D); head = dev((size_t)V * D); x = dev(B * D); h = dev(B * D); q = dev(B * D); k = dev(B * D); v = dev(B * D); ao = dev(B * D); g = dev(B * F); u = dev(B * F); lg = dev(B * V); cudaMalloc(&ids, B * 4); cudaMemset(ids, 0, B * 4); }
void drop() { for (auto& l : ly) for (bf* p : {l.qkv, l.o, l.gu, l.dn, l.n1, l.n2, l.kc, l.vc}) cudaFree(p); for (bf* p : {emb, head, x, h, q, k, v, ao, g, u, lg}) cudaFree(p); cudaFree(ids); }
void forward(int pos) { lookup_tokens<<<B, 256, 0, st>>>(x, emb, ids, D); for (auto& l : ly) { rmsnorm_rows<<<B, 256, 0, st>>>(h, x, l.n1, D); mm(q, h, l.qkv, B, D, D); mm(k, h, l.qkv + (size_t)D * D, B, D, D); mm(v, h, l.qkv + (size_t)2 * D * D, B, D, D); rope_and_store_kv<<<B, 256, 0, st>>>(q, k, v, l.kc, l.vc, D, pos, CAP); decode_mha<<<dim3(B, D / 128), 128, 0, st>>>(ao, q, l.kc, l.vc, D, pos + 1, CAP); mm(h, ao, l.o, B, D, D); add_residual<<<grid(B * D), 256, 0, st>>>(x, h, B * D); rmsnorm_rows<<<B, 256, 0, st>>>(h, x, l.n2, D); mm(g, h, l.gu, B, F, D); mm(u, h, l.gu + (size_t)D * F, B, F, D); swiglu<<<grid(B * F), 256, 0, st>>>(g, g, u, B * F); mm(h, g, l.dn, B, D, F); add_residual<<<grid(B * D), 256, 0, st>>>(x, h, B * D); } mm(lg, x, head, B, V, D); }
int main(int c, char** a) {
  cublasCreate(&cb); cudaStreamCreate(&st); cublasSetStream(cb, st); void* ws; cudaMalloc(&ws, 32 << 20); cublasSetWorkspace(cb, ws, 32 << 20);
  for (int w = 1; w < c; w++) { std::string name = a[w]; bool nv = name != "own_plain" && name != "own_graph";
    if (name == "own_wide") make(4, 24, 4096, 14336, 512); else if (name == "own_longctx") make(4, 8, 2048, 5632, 16384); else make(8, 16, 2048, 5632, 2048);
    int n = 16, pos = name == "own_longctx" ? 12000 : 200; std::vector<int> host(B); std::vector<bf> hl((size_t)B * V); cudaGraphExec_t ex = 0; cudaGraph_t gr; int* pin; cudaMallocHost(&pin, B * 4);
    if (name == "own_graph" || name == "own_graph_cpu") { cudaStreamBeginCapture(st, cudaStreamCaptureModeThreadLocal); forward(pos); greedy<<<B, 256, 0, st>>>(ids, lg, V); cudaStreamEndCapture(st, &gr); cudaGraphInstantiate(&ex, gr, 0); }
    auto step = [&](int i) { if (nv) nvtxRangePushA(("engine step " + std::to_string(i)).c_str());
      if (ex) cudaGraphLaunch(ex, st); else { if (nv) nvtxRangePushA("forward"); forward(pos + i % 1000); if (nv) nvtxRangePop(); }
      if (name == "own_cpu_sampling") { if (nv) nvtxRangePushA("sample"); cudaMemcpyAsync(hl.data(), lg, hl.size() * 2, cudaMemcpyDeviceToHost, st); cudaStreamSynchronize(st); for (int b = 0; b < B; b++) { std::vector<std::pair<float, int>> p; for (int j = 0; j < V; j++) p.push_back({__bfloat162float(hl[(size_t)b * V + j]), j}); std::sort(p.begin(), p.end()); host[b] = p.back().second; } cudaMemcpyAsync(ids, host.data(), B * 4, cudaMemcpyHostToDevice, st); if (nv) nvtxRangePop(); }
      else if (name == "own_alloc") { float* t; for (int j = 0; j < 12; j++) { cudaMalloc(&t, 64 << 20); cudaMemsetAsync(t, 0, 1 << 20, st); cudaFree(t); } greedy<<<B, 256, 0, st>>>(ids, lg, V); cudaStreamSynchronize(st); }
      else { if (!ex) greedy<<<B, 256, 0, st>>>(ids, lg, V); cudaMemcpyAsync(pin, ids, B * 4, cudaMemcpyDeviceToHost, st); cudaStreamSynchronize(st); if (name == "own_graph_cpu") { auto t = std::chrono::steady_clock::now(); while (std::chrono::steady_clock::now() - t < std::chrono::milliseconds(3)); } if (name == "own_poll") usleep(5000); }
      if (nv) nvtxRangePop(); };
    for (int i = 0; i < 4; i++) step(i); cudaDeviceSynchronize(); auto t = std::chrono::steady_clock::now(); for (int i = 0; i < n; i++) step(4 + i); cudaDeviceSynchronize(); double plain = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count() / n;
    cudaProfilerStart(); t = std::chrono::steady_clock::now(); for (int i = 0; i < n; i++) step(20 + i); cudaDeviceSynchronize(); double prof = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count() / n; cudaProfilerStop(); usleep(300000);
    printf("DONE {\"name\":\"%s\",\"steps\":%d,\"plain_ms\":%.3f,\"profiled_ms\":%.3f,\"error\":\"%s\"}\n", name.c_str(), n, plain, prof, cudaGetErrorString(cudaGetLastError())); fflush(stdout); drop(); cudaFreeHost(pin); } }
