/**
 * Which experts each token should go to so that all are used alike: our own plan for a perfect router.
 *
 * All experts stand in one circle in which GPUs take turns (GPU 0's first expert, GPU 1's first …, GPU 0's second …).
 * Tokens take the next k places of the circle, and each rank goes on where the rank before it ended. However many
 * tokens there are, they are one run of places: no expert and no GPU is used more than once more often than another.
 *
 * Where a token may only use some groups of experts (DeepSeekV3), k places in turn may lie in more groups than allowed:
 * then GPUs are split into blocks that hold as many groups as a token may use (see inBlocks).
 */
import { checkShape, type RoutingShape, wrong } from './routing-methods.js';

export interface PlanShape extends RoutingShape {
  readonly tokens: number;
  /** GPUs the experts are spread over, in order, and which of them these tokens are on. */
  readonly gpus?: number;
  readonly rank?: number;
}

export function balancedExperts(shape: PlanShape): Int32Array {
  const { tokens, topK, experts, gpus = 1, rank = 0, groups = 1, topGroups = groups } = shape;
  checkPlan(shape);
  const reach = reachableGpus(gpus, groups, topGroups);
  if (Math.min(topK, gpus) > reach) return inBlocks(shape, reach);
  const perGpu = experts / gpus;
  return Int32Array.from({ length: tokens * topK }, (_, slot) => {
    const place = (rank * tokens * topK + slot) % experts;
    return (place % gpus) * perGpu + Math.floor(place / gpus);
  });
}

/**
 * Blocks of GPUs take turns by token. Where the tokens are no whole number of rounds, the last few fill GPU after GPU
 * instead, each to the same height, so that the round that is left over does not weigh on one block:
 *
 *   8 GPUs, 3 tokens of 8 experts, 4 GPUs each at most     token 0  aaa bbb cc
 *                                                          token 1  c ddd eee f
 *                                                          token 2  ff ggg hhh
 */
function inBlocks(shape: PlanShape, reach: number): Int32Array {
  const { tokens, topK, experts, gpus = 1, rank = 0 } = shape;
  const blocks = gpus / reach;
  const perGpu = experts / gpus;
  const head = tokens - leftOver(shape, reach);
  const inHead = Math.floor(head / blocks) * topK;
  const inTail = (tokens - head) * topK;
  // Each rank goes on with other experts than the rank before it.
  const begin = rank * Math.floor((tokens * topK) / gpus);
  return Int32Array.from({ length: tokens * topK }, (_, slot) => {
    const token = Math.floor(slot / topK);
    if (token < head) {
      const place = Math.floor(token / blocks) * topK + (slot % topK);
      const gpu = (token % blocks) * reach + (place % reach);
      return gpu * perGpu + ((begin + Math.floor(place / reach)) % perGpu);
    }
    const at = slot - head * topK;
    const gpu = Math.floor((at * gpus) / inTail);
    const before = Math.floor((inHead + reach - 1 - (gpu % reach)) / reach);
    const within = at - Math.ceil((gpu * inTail) / gpus);
    return gpu * perGpu + ((begin + before + within) % perGpu);
  });
}

/** Tokens at the end that fill GPU after GPU: none where rounds come out even, or where too few GPUs can be reached. */
function leftOver({ tokens, gpus = 1, groups = 1 }: PlanShape, reach: number): number {
  const blocks = gpus / reach;
  const rest = tokens % blocks;
  // A GPU that holds several groups would have tokens crossing from one into the next.
  if (rest === 0 || gpus !== groups || reach < 2) return 0;
  // Heights of at least k / (reach − 1) keep every token within reach.
  let tail = rest + blocks;
  while (tail < gpus / (reach - 1)) tail += blocks;
  return tail <= tokens ? tail : 0;
}

/** How many GPUs the groups a token may use can lie on. */
function reachableGpus(gpus: number, groups: number, topGroups: number): number {
  if (groups === 1) return gpus;
  return gpus > groups ? topGroups * (gpus / groups) : Math.min(gpus, topGroups);
}

/** The plan keeps its promise for these shapes; for others it says no rather than being nearly balanced. */
function checkPlan(shape: PlanShape): void {
  checkShape(shape);
  const { tokens, topK, experts, gpus = 1, rank = 0, groups = 1, topGroups = groups } = shape;
  if (!(Number.isInteger(tokens) && tokens >= 0))
    throw wrong(`${tokens} is not a number of tokens.`, 'Give a whole number.');
  if (!(Number.isInteger(gpus) && gpus > 0) || experts % gpus !== 0)
    throw wrong(
      `${experts} experts cannot be spread evenly over ${gpus} GPUs.`,
      'The number of GPUs must divide the number of experts.',
    );
  if (!(Number.isInteger(rank) && rank >= 0 && rank < gpus))
    throw wrong(`Rank ${rank} does not exist among ${gpus} GPUs.`, `Ranks are 0 to ${gpus - 1}.`);
  if (groups === 1) return;
  const divides = gpus > groups ? gpus % groups === 0 : groups % gpus === 0;
  const reach = reachableGpus(gpus, groups, topGroups);
  const circle = (Math.min(topK, gpus) <= reach ? gpus : reach) * (experts / gpus);
  if (!divides || (Math.min(topK, gpus) > reach && gpus % reach !== 0) || circle % topK !== 0)
    throw wrong(
      `No exact plan is known for ${topK} of ${experts} experts in ${groups} groups on ${gpus} GPUs.`,
      'Groups, GPUs and k should divide each other.',
    );
}
