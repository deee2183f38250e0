/**
 * The plan TensorRT-LLM published in 2026 for DeepSeekV3: slot i of a rank wants GPU (i + rank) mod P; a beam search
 * picks at most `topGroups` groups per token with the fewest slots on a GPU they did not want, preferring groups already
 * in use. It promises balance where GPUs are fewer than groups; what it gives elsewhere is as close as it gets.
 */
import type { PlanShape } from './balanced-experts.js';
import { checkShape, wrong } from './routing-methods.js';

const BEAM = 32;
const FIRST = 4;
const LAST = 1;
const BACKGROUND = -10;

interface Candidate {
  readonly experts: readonly number[];
  readonly groups: ReadonlySet<number>;
  readonly misses: number;
}

export function publishedGroupExperts(shape: PlanShape): Int32Array {
  checkShape(shape);
  const { tokens, topK, experts, gpus = 1, rank = 0, groups = 1, topGroups = groups } = shape;
  if (experts % gpus !== 0)
    throw wrong(
      `${experts} experts cannot be spread evenly over ${gpus} GPUs.`,
      'The number of GPUs must divide the number of experts.',
    );
  const perGpu = experts / gpus;
  const perGroup = experts / groups;
  const used = new Int32Array(experts);
  const plan = new Int32Array(tokens * topK);
  /** The least used expert of a group on a GPU (or anywhere in it) that the token does not have yet. */
  const leastUsed = (group: number, gpu: number | null, taken: readonly number[]): number => {
    let found = -1;
    for (let expert = group * perGroup; expert < (group + 1) * perGroup; expert++) {
      if (gpu !== null && Math.floor(expert / perGpu) !== gpu) continue;
      if (taken.includes(expert)) continue;
      if (found < 0 || used[expert] < used[found]) found = expert;
    }
    return found;
  };
  const extend = (candidate: Candidate, gpu: number): Candidate[] => {
    const next: Candidate[] = [];
    for (let group = 0; group < groups; group++) {
      const isNew = !candidate.groups.has(group);
      if (isNew && candidate.groups.size >= topGroups) continue;
      const wanted = leastUsed(group, gpu, candidate.experts);
      const expert = wanted >= 0 ? wanted : leastUsed(group, null, candidate.experts);
      if (expert < 0) continue;
      next.push({
        experts: [...candidate.experts, expert],
        groups: isNew ? new Set([...candidate.groups, group]) : candidate.groups,
        misses: candidate.misses + (wanted >= 0 ? 0 : 1),
      });
    }
    return next;
  };
  const load = ({ experts: own }: Candidate) => own.reduce((sum, expert) => sum + used[expert], 0);
  for (let token = 0; token < tokens; token++) {
    let beam: Candidate[] = [{ experts: [], groups: new Set(), misses: 0 }];
    for (let slot = token * topK; slot < (token + 1) * topK; slot++) {
      const gpu = (slot + rank) % gpus;
      beam = beam
        .flatMap(candidate => extend(candidate, gpu))
        .sort((a, b) => a.misses - b.misses || a.groups.size - b.groups.size || load(a) - load(b))
        .slice(0, BEAM);
    }
    beam[0].experts.forEach((expert, i) => {
      plan[token * topK + i] = expert;
      used[expert]++;
    });
  }
  return plan;
}

/** Logits fall from 4 to 1 over a token's slots; everything else is far below. */
export function publishedGroupLogits(shape: PlanShape): Float64Array {
  const { tokens, topK, experts } = shape;
  const logits = new Float64Array(tokens * experts).fill(BACKGROUND);
  publishedGroupExperts(shape).forEach((expert, i) => {
    const slot = i % topK;
    const fall = topK === 1 ? 0 : slot / (topK - 1);
    logits[Math.floor(i / topK) * experts + expert] = FIRST + (LAST - FIRST) * fall;
  });
  return logits;
}
