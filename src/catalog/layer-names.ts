/** How ranges, module annotations and Python frames name a model's layers. */
interface LayerName {
  readonly layer: number;
  /** What of the layer: `attn`, `mlp.gate`; empty for the whole. */
  readonly part: string;
}

/** Group 1 is the number, group 2 the part. */
const patterns: readonly { readonly pattern: RegExp; readonly source: string }[] = [
  {
    pattern: /'Module': '[^']*?\blayers?\.(\d+)\.?([\w.]*)'/,
    source: 'TensorRT-LLM layer-wise NVTX marker (a Python dict)',
  },
  { pattern: /^layer_wise_benchmarks layer_idx (\d+)()$/, source: 'TensorRT-LLM layer-wise benchmarks' },
  {
    pattern: /(?:^|[.\s/:])(?:layers?|blocks?|h)[._](\d+)(?:[._]([\w.]+))?/,
    source: 'module paths: model.layers.3.self_attn, transformer.h.3.mlp',
  },
  { pattern: /^layer(\d+)(?:\.([\w.]+))?$/, source: 'TensorRT-LLM debug ranges (layer3.input_layernorm)' },
  {
    pattern: /^nn\.Module: \w*(?:DecoderLayer|EncoderLayer|TransformerBlock|Block|Layer)_(\d+)()$/,
    source: 'PyTorch profiler with_modules: class name and instance',
  },
];

export function layerOf(name: string): LayerName | undefined {
  for (const { pattern } of patterns) {
    const match = pattern.exec(name);
    if (match) return { layer: Number(match[1]), part: match[2] ?? '' };
  }
  return undefined;
}
