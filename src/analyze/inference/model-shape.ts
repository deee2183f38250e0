/**
 * The sizes of a decoder-only transformer, from its Hugging Face config.json. Names differ between families;
 * here they become one shape. Architectures whose work this shape cannot state are refused, not approximated.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { badConfig, optionalSize, perLayer, present, shown, size } from './config-fields.js';
import { type WeightFormat, weightFormat } from './weight-format.js';

/** Keys and values per head, shared by groups of query heads (all of them, some, or none). */
interface GroupedAttention {
  readonly kind: 'grouped';
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
}

/** Keys and values compressed into one latent vector per token (MLA). */
interface LatentAttention {
  readonly kind: 'latent';
  readonly heads: number;
  /** Undefined: queries are projected in one step. */
  readonly queryRank?: number;
  readonly kvRank: number;
  readonly ropeDim: number;
  readonly nopeDim: number;
  readonly valueDim: number;
}

interface MoeShape {
  readonly layers: number;
  readonly experts: number;
  readonly expertsPerToken: number;
  readonly width: number;
  /** Width of the expert every token passes, 0 where there is none. */
  readonly sharedWidth: number;
}

export interface ModelShape {
  readonly modelType: string;
  readonly hiddenSize: number;
  readonly layers: number;
  readonly vocabSize: number;
  readonly tiedEmbeddings: boolean;
  readonly attention: GroupedAttention | LatentAttention;
  /** Layers that see only the last `window` tokens. */
  readonly sliding?: { readonly window: number; readonly layers: number };
  /** Matrices of an MLP: gate, up and down, or without the gate. */
  readonly mlpMatrices: 2 | 3;
  readonly denseMlp: { readonly layers: number; readonly width: number };
  readonly moe?: MoeShape;
  readonly weights: WeightFormat;
}

const ungated = new Set(['gpt_neox', 'phi', 'starcoder2', 'nemotron', 'persimmon', 'arcee']);

/** Fields that mean work beyond attention over a cache plus MLP or experts, or sizes that differ by layer. */
const foreignFields = [
  'attn_layer_indices',
  'block_configs',
  'compress_ratios',
  'cross_attention_layers',
  'encoder_layers',
  'global_head_dim',
  'hidden_size_per_layer_input',
  'hybrid_layer_pattern',
  'hybrid_override_pattern',
  'index_topk',
  'interleave_moe_layer_step',
  'linear_num_value_heads',
  'mamba_d_state',
  'multi_query',
  'num_kv_shared_layers',
  'o_lora_rank',
  'residual_moe',
  'ssm_cfg',
];

export function parseModelConfig(json: unknown): ModelShape {
  if (!isJsonObject(json)) throw badConfig(`The model config is ${shown(json)}, not a JSON object.`);
  // Multimodal models keep the language model in a section of its own.
  const section = present(json, ['text_config', 'llm_config', 'language_config']);
  const nested = section === undefined ? undefined : json[section];
  const fields = isJsonObject(nested) ? nested : json;
  const modelType = String(fields.model_type ?? json.model_type ?? '')
    .replace(/[^\w.-]/g, '')
    .slice(0, 40);
  const foreign = present(fields, foreignFields);
  if (foreign !== undefined)
    throw badConfig(
      `The model config has ${foreign}: Stepscope cannot compute a minimum time for this architecture.`,
      'Supported: decoder-only transformers with grouped-query or latent attention, dense or MoE.',
    );
  const layers = size(fields, 'num_hidden_layers');
  // Far below the limit of other sizes, because layers are walked one by one.
  if (layers > 10_000)
    throw badConfig(`The model config's num_hidden_layers is ${layers}; no known model has that many.`);
  const moe = moeShape(fields, layers);
  const denseLayers = layers - (moe?.layers ?? 0);
  const either = (name: string) => fields[name] ?? json[name];
  return {
    modelType,
    hiddenSize: size(fields, 'hidden_size'),
    layers,
    vocabSize: size(fields, 'vocab_size'),
    tiedEmbeddings: Boolean(either('tie_word_embeddings') ?? /^(?:gemma|cohere)/.test(modelType)),
    attention: attentionShape(fields),
    sliding: slidingLayers(fields, modelType, layers),
    mlpMatrices: ungated.has(modelType) ? 2 : 3,
    denseMlp: { layers: denseLayers, width: denseLayers > 0 ? size(fields, 'intermediate_size') : 0 },
    moe,
    weights: weightFormat(
      either('dtype') ?? either('torch_dtype'),
      either('quantization_config') ?? either('compression_config'),
      layers,
    ),
  };
}

function attentionShape(fields: JsonObject): GroupedAttention | LatentAttention {
  const heads = size(fields, 'num_attention_heads');
  if (present(fields, ['kv_lora_rank']))
    return {
      kind: 'latent',
      heads,
      queryRank: optionalSize(fields, ['q_lora_rank']),
      kvRank: size(fields, 'kv_lora_rank'),
      ropeDim: size(fields, 'qk_rope_head_dim'),
      nopeDim: size(fields, 'qk_nope_head_dim'),
      valueDim: size(fields, 'v_head_dim'),
    };
  const kvHeads = optionalSize(fields, ['num_key_value_heads']) ?? heads;
  if (heads % kvHeads !== 0)
    throw badConfig(
      `The model config has ${heads} heads, not a multiple of its ${kvHeads} num_key_value_heads.`,
    );
  const headDim = optionalSize(fields, ['head_dim']) ?? size(fields, 'hidden_size') / heads;
  if (!Number.isInteger(headDim))
    throw badConfig('The model config has no head_dim, and hidden_size is not a multiple of the heads.');
  return { kind: 'grouped', heads, kvHeads, headDim };
}

function slidingLayers(fields: JsonObject, modelType: string, layers: number): ModelShape['sliding'] {
  const types = perLayer(fields, 'layer_types', layers);
  const odd = types?.find(type => type !== 'full_attention' && type !== 'sliding_attention');
  if (odd !== undefined)
    throw badConfig(
      `The model config has an unsupported layer type, ${shown(odd)}.`,
      'Supported: full_attention and sliding_attention.',
    );
  const window = optionalSize(fields, ['sliding_window']);
  if (window === undefined || fields.use_sliding_window === false) return undefined;
  const count = types
    ? types.filter(type => type === 'sliding_attention').length
    : layersInWindow(fields, modelType, layers);
  return count > 0 ? { window, layers: count } : undefined;
}

/** Configs older than layer_types leave the pattern to the model's class; these are the defaults of those classes. */
function layersInWindow(fields: JsonObject, modelType: string, layers: number): number {
  const usual = modelType.startsWith('gemma3') ? 6 : /^(?:gemma2|gpt_oss)/.test(modelType) ? 2 : undefined;
  const every = optionalSize(fields, ['sliding_window_pattern']) ?? (modelType === 'cohere2' ? 4 : usual);
  if (every !== undefined) return layers - Math.floor(layers / every);
  const unlimited = /^qwen/.test(modelType) ? optionalSize(fields, ['max_window_layers'], 0) : 0;
  return Math.max(0, layers - (unlimited ?? 0));
}

function moeShape(fields: JsonObject, layers: number): MoeShape | undefined {
  const experts = optionalSize(fields, ['num_local_experts', 'num_experts', 'n_routed_experts'], 0);
  if (experts === undefined || experts <= 1) return undefined;
  const perToken = ['num_experts_per_tok', 'num_experts_per_token', 'experts_per_token', 'moe_topk', 'top_k'];
  const expertsPerToken = size(fields, perToken);
  if (expertsPerToken > experts)
    throw badConfig(`The model config routes a token to ${expertsPerToken} of only ${experts} experts.`);
  const width = size(fields, ['moe_intermediate_size', 'intermediate_size']);
  const sharedWidth =
    optionalSize(fields, ['shared_expert_intermediate_size', 'shared_intermediate_size'], 0) ??
    width * (optionalSize(fields, ['n_shared_experts', 'num_shared_experts'], 0) ?? 0);
  const count = moeLayers(fields, layers);
  return count > 0 ? { layers: count, experts, expertsPerToken, width, sharedWidth } : undefined;
}

/** As transformers decides it: DeepSeek counts from layer 0, Qwen from 1. */
function moeLayers(fields: JsonObject, layers: number): number {
  const listed = perLayer(fields, 'moe_layer_freq', layers);
  const denseFirst = optionalSize(fields, ['first_k_dense_replace'], 0) ?? 0;
  const frequency = listed ? 1 : (optionalSize(fields, ['moe_layer_freq']) ?? 1);
  const step = optionalSize(fields, ['decoder_sparse_step']) ?? 1;
  const dense = new Set(Array.isArray(fields.mlp_only_layers) ? fields.mlp_only_layers : []);
  let count = 0;
  for (let layer = 0; layer < layers; layer++) {
    if (listed && !listed[layer]) continue;
    if (layer >= denseFirst && layer % frequency === 0 && (layer + 1) % step === 0 && !dense.has(layer))
      count++;
  }
  return count;
}
