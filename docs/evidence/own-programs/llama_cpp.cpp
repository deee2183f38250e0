// llama.cpp as a library: windows of one kind of step each. ./llama_cpp MODEL NGL name…
#include "llama.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <unistd.h>
extern "C" int cudaProfilerStart(void); extern "C" int cudaProfilerStop(void);
int main(int c, char** a) {
  llama_backend_init(); llama_log_set([](ggml_log_level l, const char* t, void*) { if (l >= GGML_LOG_LEVEL_ERROR) fputs(t, stderr); }, nullptr);
  auto mp = llama_model_default_params(); mp.n_gpu_layers = atoi(a[2]); llama_model* m = llama_model_load_from_file(a[1], mp); if (!m) return 1; const llama_vocab* vo = llama_model_get_vocab(m); int V = llama_vocab_n_tokens(vo);
  for (int w = 3; w < c; w++) { std::string name = a[w]; bool pre = name.find("prefill") != std::string::npos; int B = name.find("batch") != std::string::npos ? 16 : 1;
    auto cp = llama_context_default_params(); cp.n_ctx = 16384; cp.n_batch = 2048; cp.n_ubatch = 512; cp.n_seq_max = B; llama_context* x = llama_init_from_model(m, cp); llama_sampler* s = llama_sampler_init_greedy();
    llama_batch b = llama_batch_init(2048, 0, 1); int pos = 0; std::vector<int> tok(B, 7);
    auto add = [&](int t, int p, int q, bool l) { int i = b.n_tokens++; b.token[i] = t; b.pos[i] = p; b.n_seq_id[i] = 1; b.seq_id[i][0] = q; b.logits[i] = l; };
    auto step = [&]() { b.n_tokens = 0; if (pre) { llama_memory_clear(llama_get_memory(x), true); for (int i = 0; i < 2048; i++) add((i * 7) % (V - 10) + 5, i, 0, i == 2047); llama_decode(x, b); llama_sampler_sample(s, x, -1); }
      else { for (int q = 0; q < B; q++) add(tok[q], pos, q, true); llama_decode(x, b); for (int q = 0; q < B; q++) tok[q] = llama_sampler_sample(s, x, q); pos++; } };
    int n = pre ? 6 : 16; for (int i = 0; i < 6; i++) step(); llama_synchronize(x); auto t = std::chrono::steady_clock::now(); for (int i = 0; i < n; i++) step(); llama_synchronize(x); double plain = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count() / n;
    cudaProfilerStart(); t = std::chrono::steady_clock::now(); for (int i = 0; i < n; i++) step(); llama_synchronize(x); double prof = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t).count() / n; cudaProfilerStop(); usleep(300000);
    printf("DONE {\"name\":\"%s\",\"steps\":%d,\"plain_ms\":%.3f,\"profiled_ms\":%.3f}\n", name.c_str(), n, plain, prof); fflush(stdout); llama_batch_free(b); llama_sampler_free(s); llama_free(x); } }
