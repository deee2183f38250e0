/**
 * Which experts each token should go to so that all are used alike: our own plan for a perfect router.
 *
 * All experts stand in one circle in which GPUs take turns (GPU 0's first expert, GPU 1's first …, GPU 0's second …).
 * Tokens take the next k places of the circle, and each rank goes on where the rank before it ended. However many
 * tokens there are, they are one run of places: no expert and no GPU is used more than once more often than another.
 *
 * Where a token may only use some groups of experts (DeepSeekV3), k places in turn may lie in more groups than allowed:
 * then GPUs are split into blocks that hold as many groups as a token may use, and blocks take turns by token.
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
  // With enough reach one circle holds all GPUs; else each block of GPUs is a circle of its own.
  const blockGpus = Math.min(topK, gpus) <= reach ? gpus : reach;
  const blocks = gpus / blockGpus;
  const perGpu = experts / gpus;
  const circle = blockGpus * perGpu;
  const plan = new Int32Array(tokens * topK);
  for (let token = 0; token < tokens; token++) {
    const turn = rank * tokens + token;
    const block = turn % blocks;
    const from = Math.floor(turn / blocks) * topK;
    for (let i = 0; i < topK; i++) {
      const place = (from + i) % circle;
      const gpu = block * blockGpus + (place % blockGpus);
      plan[token * topK + i] = gpu * perGpu + Math.floor(place / blockGpus);
    }
  }
  return plan;
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
    throw wrong(`${tokens} is no number of tokens.`, 'Give a whole number.');
  if (!(Number.isInteger(gpus) && gpus > 0) || experts % gpus !== 0)
    throw wrong(
      `${experts} experts cannot be spread evenly over ${gpus} GPUs.`,
      'The GPUs must divide the experts.',
    );
  if (!(Number.isInteger(rank) && rank >= 0 && rank < gpus))
    throw wrong(`There is no rank ${rank} among ${gpus} GPUs.`, `Ranks are 0 to ${gpus - 1}.`);
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
