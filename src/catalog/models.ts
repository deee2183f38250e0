/**
 * Well-known models in the form of their Hugging Face config.json, with only the fields that decide how much a
 * step computes and reads. For any other model, or another quantization, the model's own config.json serves.
 */
interface ModelPreset {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly source: string;
}

type Config = ModelPreset['config'];

/** [hidden, layers, heads, key-value heads, MLP width, vocabulary], in the order model cards print them. */
type Sizes = readonly [number, number, number, number, number, number];

function decoder(modelType: string, sizes: Sizes, rest: Config = {}): Config {
  const [hidden, layers, heads, kvHeads, intermediate, vocabulary] = sizes;
  return {
    model_type: modelType,
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    intermediate_size: intermediate,
    vocab_size: vocabulary,
    tie_word_embeddings: false,
    torch_dtype: 'bfloat16',
    ...rest,
  };
}

const huggingFace = (repository: string) => `huggingface.co/${repository}/config.json`;

/** Every second layer sees 128 tokens only; the experts alone are four-bit. */
function gptOss(layers: number, experts: number): Config {
  return decoder('gpt_oss', [2880, layers, 64, 8, 2880, 201088], {
    head_dim: 64,
    sliding_window: 128,
    layer_types: Array.from({ length: layers }, (_, i) => (i % 2 ? 'full_attention' : 'sliding_attention')),
    num_local_experts: experts,
    num_experts_per_tok: 4,
    quantization_config: {
      quant_method: 'mxfp4',
      modules_to_not_convert: [
        'model.layers.*.self_attn',
        'model.layers.*.mlp.router',
        'model.embed_tokens',
        'lm_head',
      ],
    },
  });
}

function deepseekV3(heads: number, experts: number, denseLayers: number, vocabulary: number): Config {
  return decoder('deepseek_v3', [7168, 61, heads, heads, 18432, vocabulary], {
    kv_lora_rank: 512,
    q_lora_rank: 1536,
    qk_nope_head_dim: 128,
    qk_rope_head_dim: 64,
    v_head_dim: 128,
    n_routed_experts: experts,
    n_shared_experts: 1,
    num_experts_per_tok: 8,
    moe_intermediate_size: 2048,
    first_k_dense_replace: denseLayers,
    moe_layer_freq: 1,
    quantization_config: { quant_method: 'fp8', fmt: 'e4m3', weight_block_size: [128, 128] },
  });
}

function qwen3Moe(sizes: Sizes, expertWidth: number): Config {
  return decoder('qwen3_moe', sizes, {
    head_dim: 128,
    num_experts: 128,
    num_experts_per_tok: 8,
    moe_intermediate_size: expertWidth,
    decoder_sparse_step: 1,
    mlp_only_layers: [],
    use_sliding_window: false,
  });
}

export const modelPresets: readonly ModelPreset[] = [
  {
    id: 'llama-3.2-1b',
    aliases: ['llama-3.2-1b-instruct'],
    config: decoder('llama', [2048, 16, 32, 8, 8192, 128256], { head_dim: 64, tie_word_embeddings: true }),
    source: huggingFace('meta-llama/Llama-3.2-1B'),
  },
  {
    id: 'llama-3.1-8b',
    aliases: ['llama-3.1-8b-instruct', 'meta-llama-3.1-8b', 'meta-llama-3.1-8b-instruct', 'llama-3-8b'],
    config: decoder('llama', [4096, 32, 32, 8, 14336, 128256]),
    source: huggingFace('meta-llama/Llama-3.1-8B'),
  },
  {
    id: 'llama-3.3-70b',
    aliases: ['llama-3.3-70b-instruct', 'llama-3.1-70b', 'llama-3.1-70b-instruct', 'llama-3-70b'],
    config: decoder('llama', [8192, 80, 64, 8, 28672, 128256]),
    source: huggingFace('meta-llama/Llama-3.3-70B-Instruct'),
  },
  {
    id: 'llama-3.1-405b',
    aliases: ['llama-3.1-405b-instruct'],
    config: decoder('llama', [16384, 126, 128, 8, 53248, 128256]),
    source: huggingFace('meta-llama/Llama-3.1-405B'),
  },
  {
    id: 'qwen2.5-7b',
    aliases: ['qwen2.5-7b-instruct'],
    config: decoder('qwen2', [3584, 28, 28, 4, 18944, 152064], {
      sliding_window: 131072,
      use_sliding_window: false,
    }),
    source: huggingFace('Qwen/Qwen2.5-7B-Instruct'),
  },
  {
    id: 'qwen3-8b',
    aliases: [],
    config: decoder('qwen3', [4096, 36, 32, 8, 12288, 151936], { head_dim: 128 }),
    source: huggingFace('Qwen/Qwen3-8B'),
  },
  {
    id: 'qwen3-32b',
    aliases: [],
    config: decoder('qwen3', [5120, 64, 64, 8, 25600, 151936], { head_dim: 128 }),
    source: huggingFace('Qwen/Qwen3-32B'),
  },
  {
    id: 'qwen3-30b-a3b',
    aliases: ['qwen3-30b-a3b-instruct-2507', 'qwen3-30b-a3b-thinking-2507', 'qwen3-coder-30b-a3b-instruct'],
    config: qwen3Moe([2048, 48, 32, 4, 6144, 151936], 768),
    source: huggingFace('Qwen/Qwen3-30B-A3B'),
  },
  {
    id: 'qwen3-235b-a22b',
    aliases: ['qwen3-235b-a22b-instruct-2507', 'qwen3-235b-a22b-thinking-2507'],
    config: qwen3Moe([4096, 94, 64, 4, 12288, 151936], 1536),
    source: huggingFace('Qwen/Qwen3-235B-A22B'),
  },
  {
    id: 'mistral-7b',
    aliases: ['mistral-7b-v0.3', 'mistral-7b-instruct-v0.3'],
    config: decoder('mistral', [4096, 32, 32, 8, 14336, 32768], { sliding_window: null }),
    source: huggingFace('mistralai/Mistral-7B-v0.3'),
  },
  {
    id: 'mixtral-8x7b',
    aliases: ['mixtral-8x7b-v0.1', 'mixtral-8x7b-instruct-v0.1'],
    config: decoder('mixtral', [4096, 32, 32, 8, 14336, 32000], {
      num_local_experts: 8,
      num_experts_per_tok: 2,
      sliding_window: null,
    }),
    source: huggingFace('mistralai/Mixtral-8x7B-v0.1'),
  },
  { id: 'gpt-oss-20b', aliases: [], config: gptOss(24, 32), source: huggingFace('openai/gpt-oss-20b') },
  { id: 'gpt-oss-120b', aliases: [], config: gptOss(36, 128), source: huggingFace('openai/gpt-oss-120b') },
  {
    id: 'deepseek-v3',
    aliases: ['deepseek-r1', 'deepseek-v3-0324', 'deepseek-r1-0528', 'deepseek-v3.1'],
    config: deepseekV3(128, 256, 3, 129280),
    source: huggingFace('deepseek-ai/DeepSeek-V3'),
  },
  {
    id: 'kimi-k2',
    aliases: ['kimi-k2-instruct', 'kimi-k2-base', 'kimi-k2-instruct-0905'],
    config: { ...deepseekV3(64, 384, 1, 163840), model_type: 'kimi_k2' },
    source: huggingFace('moonshotai/Kimi-K2-Instruct'),
  },
  {
    id: 'gemma-3-27b',
    aliases: ['gemma-3-27b-it', 'gemma-3-27b-pt'],
    // The published file leaves the vocabulary, the pattern and the tying to the defaults of its class.
    config: {
      model_type: 'gemma3',
      torch_dtype: 'bfloat16',
      text_config: {
        model_type: 'gemma3_text',
        hidden_size: 5376,
        num_hidden_layers: 62,
        num_attention_heads: 32,
        num_key_value_heads: 16,
        head_dim: 128,
        intermediate_size: 21504,
        sliding_window: 1024,
        sliding_window_pattern: 6,
        vocab_size: 262208,
        tie_word_embeddings: true,
      },
    },
    source: `${huggingFace('google/gemma-3-27b-it')}; transformers Gemma3TextConfig for the defaults`,
  },
  {
    id: 'phi-4',
    aliases: [],
    config: decoder('phi3', [5120, 40, 40, 10, 17920, 100352]),
    source: huggingFace('microsoft/phi-4'),
  },
  {
    id: 'tinyllama-1.1b',
    aliases: ['tinyllama-1.1b-chat-v1.0', 'tinyllama'],
    config: decoder('llama', [2048, 22, 32, 4, 5632, 32000]),
    source: huggingFace('TinyLlama/TinyLlama-1.1B-Chat-v1.0'),
  },
];

/** By id or alias; an owner before a slash and the case of letters do not matter. */
export function findModel(name: string): ModelPreset | undefined {
  const wanted = name.trim().toLowerCase().split('/').pop();
  return modelPresets.find(preset => preset.id === wanted || preset.aliases.includes(wanted ?? ''));
}
