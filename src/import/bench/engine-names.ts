/** What clients call the server they talk to. One that speaks to anything (`openai`) does not say what it measured. */
const names: readonly (readonly [RegExp, string])[] = [
  [/^sglang/, 'SGLang'],
  [/^vllm/, 'vLLM'],
  [/^(?:tensorrt-llm|tensorrtllm|trt)$/, 'TensorRT-LLM'],
  [/^lmdeploy/, 'LMDeploy'],
  [/^tgi$/, 'TGI'],
  [/^deepspeed-mii$/, 'DeepSpeed-MII'],
];

export function engineNamed(backend: unknown): string | undefined {
  if (typeof backend !== 'string') return undefined;
  return names.find(([pattern]) => pattern.test(backend.trim()))?.[1];
}
