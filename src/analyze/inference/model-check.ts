/**
 * Whether the model that was given can be the one that ran. Nothing runs faster than its least time, so a step that
 * seems to was computed from a wrong input; what the capture shows of layers and experts says which.
 */
import { significant } from '../../base/units.js';
import { NotRecorded } from '../analysis.js';
import type { ModelShape } from './model-shape.js';

/** What a capture shows of the model. */
export interface SeenModel {
  /** Layers by name; undefined where none are named. */
  readonly layers?: number;
  /** How often a stretch of kernels repeats in a step. */
  readonly repeats?: number;
  /** Sizes of the matrices it multiplies, where shapes were recorded. */
  readonly sizes?: ReadonlySet<number>;
  /** Kernels that only models with experts run. */
  readonly hasExpertKernels: boolean;
  /** Some GEMMs read weights of 4 or 8 bits. */
  readonly hasNarrowGemms: boolean;
  /** Processes that share the model; with several, one may hold a part of the layers. */
  readonly ranks: number;
}

/** Kinds of layers that alternate repeat every second one, and a first or last one may differ. */
const PATTERN_PER_LAYER = 2.2;
const WHAT = 'distance to the speed of light';

/** Layers that ranges or modules name are counted, not guessed: another number is another model. */
export function checkLayers({ layers }: ModelShape, seen: SeenModel): void {
  const isPart = seen.ranks > 1 && seen.layers !== undefined && seen.layers < layers;
  if (seen.layers === undefined || isPart || Math.abs(seen.layers - layers) <= 1) return;
  throw new NotRecorded(
    WHAT,
    `--model is not the captured model: it has ${layers} layers, the capture has ${seen.layers}`,
  );
}

/** Every layer multiplies by a matrix as high as the model is wide, however its weights are split. */
export function checkWidth({ hiddenSize }: ModelShape, { sizes }: SeenModel): void {
  if (!sizes || sizes.has(hiddenSize)) return;
  throw new NotRecorded(
    WHAT,
    `--model is not the captured model: its hidden size is ${hiddenSize}, and no captured GEMM has that size`,
  );
}

/** `scope` would have run `reached` times as fast as the GPU can. */
export function impossible(scope: string, reached: number, shape: ModelShape, seen: SeenModel): NotRecorded {
  const than = `${scope} would have run at ${significant(reached, 2)} times the GPU’s peak`;
  return new NotRecorded(WHAT, `${than}: ${wrongInput(shape, seen)}`);
}

function wrongInput(shape: ModelShape, seen: SeenModel): string {
  if (seen.repeats !== undefined && seen.repeats * PATTERN_PER_LAYER < shape.layers && seen.ranks === 1)
    return `--model has ${shape.layers} layers, but a captured step repeats its kernels ${seen.repeats} times`;
  if (shape.moe && !seen.hasExpertKernels)
    return '--model has experts, but no captured kernel routes tokens to experts';
  if (seen.hasNarrowGemms && (shape.weights.quantizedBits ?? 16) >= 16)
    return '--model has 16-bit weights, but the capture uses lower precision: give the config.json of the quantized model';
  return '--model is not the captured model, or --tp is smaller than the actual tensor parallel size';
}
