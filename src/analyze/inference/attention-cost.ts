/**
 * What attention itself must compute and read: scores and weighted values of every token pair, and the cache.
 * Only sums over requests are known, so requests are taken as equally long where their lengths matter.
 */
import type { ModelShape } from './model-shape.js';
import type { PartCost, StepLoad } from './step-load.js';

/** Bits of one cached element: as told, as the config fixes it, or as the weights. */
export function kvElementBits(
  shape: ModelShape,
  told: number | undefined,
  ownBits: number | undefined,
  assumptions: string[],
): number | undefined {
  const stated = told ?? shape.weights.kvBits;
  if (stated === undefined && ownBits !== undefined)
    assumptions.push(`The KV cache is assumed to use ${ownBits} bits, the model's data type.`);
  return stated ?? ownBits;
}

/** Of one token in one layer; `ways` is among how many GPUs its heads are split. */
export function kvElements({ attention }: ModelShape, ways: number): number {
  return attention.kind === 'grouped'
    ? (2 * attention.kvHeads * attention.headDim) / ways
    : attention.kvRank + attention.ropeDim;
}

/** Pairs that `fresh` tokens in a row form with themselves, their predecessors and `cached` ones, seeing `window` back. */
export function causalPairs(fresh: number, cached: number, window: number): number {
  const growing = Math.max(0, Math.min(fresh, window - cached));
  return (
    growing * cached + (growing * (growing + 1)) / 2 + (fresh - growing) * Math.min(window, cached + fresh)
  );
}

export function attentionParts(
  shape: ModelShape,
  step: StepLoad,
  kvBits: number | undefined,
  kvWays: number,
  unknown: string[],
  assumptions: string[],
): PartCost[] {
  const { attention, sliding, layers } = shape;
  const heads = attention.heads / step.tensorParallel;
  const tokenBytes = (kvElements(shape, kvWays) * (kvBits ?? 0)) / 8;
  const kinds = [{ layers: layers - (sliding?.layers ?? 0), window: Number.POSITIVE_INFINITY }];
  if (sliding) kinds.push(sliding);
  const part = (
    variant: 'prefill' | 'decode',
    dims: number,
    perLayer: (window: number) => { pairs: number; cacheTokens: number },
  ): PartCost => {
    let flops = 0;
    let kvBytes = 0;
    for (const kind of kinds) {
      const { pairs, cacheTokens } = perLayer(kind.window);
      flops += kind.layers * 2 * heads * dims * pairs;
      kvBytes += kind.layers * cacheTokens * tokenBytes;
    }
    return { part: `attention ${variant}`, family: 'attention', variant, flops, weightBytes: 0, kvBytes };
  };
  const parts: PartCost[] = [];
  if (step.contextTokens > 0) {
    const requests = step.contextRequests;
    const fresh = step.contextTokens / requests;
    const cached = (step.contextKvTokens ?? 0) / requests;
    // Prompts expand latent vectors into heads: fewer operations per pair than working on the latent ones.
    const dims =
      attention.kind === 'grouped'
        ? 2 * attention.headDim
        : attention.nopeDim + attention.ropeDim + attention.valueDim;
    parts.push(
      part('prefill', dims, window => ({
        pairs: requests * causalPairs(fresh, cached, window),
        cacheTokens: requests * (Math.min(cached, window) + Math.min(fresh, window)),
      })),
    );
    if (step.contextKvTokens === undefined)
      unknown.push('The cached part of the prompts is unknown: attention to it is not counted.');
    if (requests > 1) assumptions.push(`The ${requests} prompts are assumed to be equally long.`);
  }
  if (step.generationTokens > 0) {
    const requests = step.generationRequests;
    const perRequest = step.generationTokens / requests;
    const length = (step.generationKvTokens ?? 0) / requests;
    // One token works on latent vectors as they are: expanding the whole cache for it would cost far more.
    const dims =
      attention.kind === 'grouped' ? 2 * attention.headDim : 2 * attention.kvRank + attention.ropeDim;
    parts.push(
      part('decode', dims, window => {
        const seen = Math.min(length, window);
        return { pairs: step.generationTokens * seen, cacheTokens: requests * (seen + perRequest) };
      }),
    );
    if (step.generationKvTokens === undefined)
      unknown.push('The context lengths of generating requests are unknown: KV cache reads are not counted.');
    else if (requests > 1 && sliding)
      assumptions.push(`The ${requests} generating requests are assumed to have equal contexts.`);
  }
  if (parts.length > 0 && kvBits === undefined)
    unknown.push('The KV cache data type is unknown: KV cache reads and writes are not counted.');
  return parts;
}
