/**
 * In how many bits a checkpoint keeps its weights, from torch_dtype and quantization_config. Block scales count
 * (they are read with the weights), zero points do not (symmetric kernels skip them). A format whose width is
 * not certain has none: the caller is asked for it instead.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';

/** Groups of matrices that formats treat apart. Embedding and router always stay in the checkpoint's own type. */
export type WeightGroup = 'attention' | 'mlp' | 'experts' | 'sharedExperts' | 'lmHead';

export interface WeightFormat {
  /** `none`, or the quantization method by its own name. */
  readonly name: string;
  /** Bits of what is not quantized; undefined when the config does not say. */
  readonly ownBits?: number;
  /** Bits of what is, block scales included; undefined when that cannot be told. */
  readonly quantizedBits?: number;
  readonly quantized: ReadonlySet<WeightGroup>;
  /** Bits of a key or value element, where the config fixes it. */
  readonly kvBits?: number;
}

const linearGroups: readonly WeightGroup[] = ['attention', 'mlp', 'experts', 'sharedExperts'];

const bitsOfType = new Map([
  ['bfloat16', 16],
  ['float16', 16],
  ['float32', 32],
  ['float8_e4m3fn', 8],
]);

export function weightFormat(dtype: unknown, quantization: unknown, layers: number): WeightFormat {
  const ownBits = bitsOfType.get(String(dtype).replace(/^torch\./, ''));
  if (!isJsonObject(quantization))
    return { name: 'none', ownBits, quantizedBits: ownBits, quantized: new Set(linearGroups) };
  // ModelOpt nests its own settings when it writes hf_quant_config.json into the config.
  const fields = isJsonObject(quantization.quantization) ? quantization.quantization : quantization;
  const method = String(quantization.quant_method ?? (fields.quant_algo ? 'modelopt' : 'unnamed'));
  const keeps = keptModules(fields, layers);
  const quantized = new Set(linearGroups);
  if (keeps(/self_attn[.*$]*$/)) quantized.delete('attention');
  if (keeps(/shared_experts?[.*$]*$/)) quantized.delete('sharedExperts');
  const reachesHead = fields.lm_head === true || /^(?:modelopt|compressed-tensors)/.test(method);
  if (reachesHead && !keeps(/lm_head[.*$]*$/)) quantized.add('lmHead');
  return {
    name: method.replace(/[^\w.-]/g, '').slice(0, 40),
    ownBits,
    quantizedBits: quantizedBits(method.toLowerCase(), fields),
    quantized,
    kvBits: kvBits(fields),
  };
}

function quantizedBits(method: string, fields: JsonObject): number | undefined {
  if (/^(?:fp8|fbgemm_fp8)$/.test(method)) return 8;
  if (method === 'mxfp4') return 4 + 8 / 32;
  if (/^(?:awq|gptq|auto-round|auto_round)/.test(method))
    return withScales(fields.bits ?? fields.w_bit, fields.group_size ?? fields.q_group_size, 16);
  if (method === 'bitsandbytes') return fields.load_in_4bit ? 4 : fields.load_in_8bit ? 8 : undefined;
  if (method.startsWith('modelopt')) {
    const algorithm = String(fields.quant_algo).toUpperCase();
    if (algorithm.startsWith('NVFP4')) return 4 + 8 / 16;
    if (algorithm.startsWith('FP8') || algorithm === 'INT8_SQ' || algorithm === 'W8A8_SQ_PER_CHANNEL')
      return 8;
    if (/^W4A(?:16|8)_AWQ$/.test(algorithm)) return withScales(4, fields.group_size, 16);
    return undefined;
  }
  if (method === 'compressed-tensors' && isJsonObject(fields.config_groups)) {
    const widths = Object.values(fields.config_groups).map(group => {
      const weights = isJsonObject(group) && isJsonObject(group.weights) ? group.weights : {};
      const isBlockFloat = weights.type === 'float' && weights.num_bits === 4;
      return withScales(weights.num_bits, weights.group_size, isBlockFloat ? 8 : 16);
    });
    return new Set(widths).size === 1 ? widths[0] : undefined;
  }
  return undefined;
}

function withScales(bits: unknown, group: unknown, scaleBits: number): number | undefined {
  if (typeof bits !== 'number' || !Number.isInteger(bits) || bits < 1 || bits > 16) return undefined;
  return typeof group === 'number' && group >= 1 ? bits + scaleBits / group : bits;
}

function kvBits(fields: JsonObject): number | undefined {
  const scheme = fields.kv_cache_scheme;
  if (isJsonObject(scheme)) return withScales(scheme.num_bits, undefined, 0);
  const algorithm = String(fields.kv_cache_quant_algo ?? '').toUpperCase();
  return algorithm === 'FP8' || algorithm === 'INT8' ? 8 : algorithm === 'NVFP4' ? 4 + 8 / 16 : undefined;
}

/**
 * Whether the config leaves a module unquantized in every layer: by one name for all layers or one for each. A
 * module kept in some layers only counts as quantized, so that the bytes stay a lower bound.
 */
function keptModules(fields: JsonObject, layers: number): (module: RegExp) => boolean {
  const lists = [fields.modules_to_not_convert, fields.ignore, fields.exclude_modules, fields.ignored_layers];
  const names = lists
    .flatMap(list => (Array.isArray(list) ? list : []))
    .filter(name => typeof name === 'string');
  return module => {
    const matching = names.filter(name => module.test(name));
    const numbers = matching.map(name => /\blayers\.(\d+)\b/.exec(name)?.[1]);
    return numbers.includes(undefined) || new Set(numbers).size >= layers;
  };
}
