/**
 * How models of experts choose: from a row of logits per token to k experts and their weights. Definitions as in
 * TensorRT-LLM's fused_moe/routing.py and the models that use them; compared by name, because their numbers changed
 * between releases. Where values are equal the lower expert comes first.
 */
import { UserError } from '../../base/user-error.js';

export const routingMethods = [
  {
    id: 'default',
    names: ['Default'],
    about: 'softmax over all experts, then the k largest, not renormalised',
  },
  { id: 'renormalize', names: ['Renormalize'], about: 'the k largest logits, then softmax over those' },
  {
    id: 'renormalize-naive',
    names: ['RenormalizeNaive'],
    about: 'softmax, the k largest, divided by their sum',
  },
  {
    id: 'deepseek-v3',
    names: ['DeepSeekV3'],
    about:
      'sigmoid; with bias the best groups by the sum of their best two, then the k largest; weights without bias',
  },
  { id: 'llama4', names: ['Llama4'], about: 'the k (one) largest logits, then sigmoid' },
  {
    id: 'minimax',
    names: ['MiniMax', 'MiniMax2', 'MiniMaxM2'],
    about: 'sigmoid, plus bias, the k largest; weights without bias, divided by their sum',
  },
  { id: 'sigmoid-renorm', names: ['SigmoidRenorm'], about: 'sigmoid, the k largest, divided by their sum' },
  {
    id: 'load-balanced',
    names: ['LoadBalanced'],
    about: 'experts in turn, whatever the logits, each with weight 1',
  },
] as const;

export type RoutingMethod = (typeof routingMethods)[number]['id'];

export function routingMethodOf(name: string): RoutingMethod {
  const wanted = name
    .toLowerCase()
    .replace(/(moe)?routingmethod$/i, '')
    .replace(/[^a-z0-9]/g, '');
  const found = routingMethods.find(({ id, names }) =>
    [id, ...names].some(known => known.toLowerCase().replace(/[^a-z0-9]/g, '') === wanted),
  );
  if (found) return found.id;
  throw new UserError(
    'usage',
    `Unknown routing method ${JSON.stringify(name)}.`,
    `Known: ${routingMethods.map(({ id }) => id).join(', ')}`,
  );
}

export interface RoutingShape {
  readonly experts: number;
  readonly topK: number;
  /** DeepSeekV3: experts lie in this many groups, of which each token may use this many. */
  readonly groups?: number;
  readonly topGroups?: number;
}

export interface RoutingOptions extends RoutingShape {
  /** Added to scores for choosing, not for weighing: one number per expert. */
  readonly bias?: ArrayLike<number>;
  /** Weights are multiplied by it (DeepSeekV3's routed_scaling_factor). */
  readonly scale?: number;
}

/** Per token k experts, best first, and their weights: token t has places t·k … t·k + k − 1. */
export interface Routed {
  readonly experts: Int32Array;
  readonly weights: Float64Array;
}

export function route(method: RoutingMethod, logits: ArrayLike<number>, options: RoutingOptions): Routed {
  checkShape(options);
  const { experts: count, topK, scale = 1 } = options;
  if (logits.length % count !== 0)
    throw wrong(
      `${logits.length} logits do not form rows of ${count} experts.`,
      'Give one logit per token and expert.',
    );
  const tokens = logits.length / count;
  const experts = new Int32Array(tokens * topK);
  const weights = new Float64Array(tokens * topK);
  const row = new Float64Array(count);
  for (let token = 0; token < tokens; token++) {
    for (let expert = 0; expert < count; expert++) {
      const logit = logits[token * count + expert];
      if (Number.isNaN(logit))
        throw wrong(
          `The logit of token ${token} and expert ${expert} is not a number.`,
          'Check how it was recorded.',
        );
      row[expert] = logit;
    }
    routeRow(method, row, options, token, experts.subarray(token * topK), weights.subarray(token * topK));
  }
  if (scale !== 1) for (let i = 0; i < weights.length; i++) weights[i] *= scale;
  return { experts, weights };
}

function routeRow(
  method: RoutingMethod,
  row: Float64Array,
  { experts: count, topK, bias, groups = 1, topGroups = 1 }: RoutingOptions,
  token: number,
  chosen: Int32Array,
  weights: Float64Array,
): void {
  const take = (scores: ArrayLike<number>) => chosen.set(best(scores, topK));
  const weigh = (scores: ArrayLike<number>) => {
    for (let i = 0; i < topK; i++) weights[i] = scores[chosen[i]];
  };
  switch (method) {
    case 'default': {
      const shares = softmax(row);
      take(row);
      weigh(shares);
      return;
    }
    case 'renormalize':
    case 'renormalize-naive': {
      take(row);
      const top = softmax(Float64Array.from({ length: topK }, (_, i) => row[chosen[i]]));
      weights.set(top);
      return;
    }
    case 'llama4':
      take(row);
      weigh(row.map(sigmoid));
      return;
    case 'sigmoid-renorm': {
      const scores = row.map(sigmoid);
      take(row);
      weigh(scores);
      renormalize(weights, topK);
      return;
    }
    case 'minimax':
    case 'deepseek-v3': {
      const scores = row.map(sigmoid);
      const biased = scores.map((score, expert) => score + (bias?.[expert] ?? 0));
      take(method === 'deepseek-v3' ? withinGroups(biased, groups, topGroups) : biased);
      weigh(scores);
      renormalize(weights, topK);
      return;
    }
    case 'load-balanced':
      for (let i = 0; i < topK; i++) {
        chosen[i] = (token * topK + i) % count;
        weights[i] = 1;
      }
  }
}

const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));

function softmax(values: Float64Array): Float64Array {
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = values.map(value => Math.exp(value - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map(power => power / sum);
}

function renormalize(weights: Float64Array, count: number): void {
  let sum = 1e-20;
  for (let i = 0; i < count; i++) sum += weights[i];
  for (let i = 0; i < count; i++) weights[i] /= sum;
}

/** Scores outside the best groups become −∞. A group is as good as its best two together. */
function withinGroups(scores: Float64Array, groups: number, topGroups: number): Float64Array {
  if (groups === 1) return scores;
  const size = scores.length / groups;
  const goodness = Float64Array.from({ length: groups }, (_, group) => {
    const [first, second] = best(scores.subarray(group * size, (group + 1) * size), Math.min(2, size));
    const at = group * size;
    return scores[at + first] + (second === undefined ? 0 : scores[at + second]);
  });
  const kept = new Set(best(goodness, topGroups));
  return scores.map((score, expert) => (kept.has(Math.floor(expert / size)) ? score : -Infinity));
}

/** Indexes of the k largest, largest first; of equals the lower index first. */
function best(values: ArrayLike<number>, k: number): number[] {
  const chosen: number[] = [];
  for (let i = 0; i < values.length; i++) {
    let at = chosen.length;
    while (at > 0 && values[chosen[at - 1]] < values[i]) at--;
    if (at >= k) continue;
    chosen.splice(at, 0, i);
    if (chosen.length > k) chosen.pop();
  }
  return chosen;
}

export const wrong = (what: string, hint: string) => new UserError('usage', what, hint);

export function checkShape({ experts, topK, groups = 1, topGroups = 1 }: RoutingShape): void {
  const whole = (value: number) => Number.isInteger(value) && value > 0;
  if (!whole(experts) || !whole(topK) || topK > experts)
    throw wrong(
      `${topK} of ${experts} experts cannot be chosen.`,
      'Give whole numbers with k at most the number of experts.',
    );
  if (!whole(groups) || !whole(topGroups) || experts % groups !== 0 || topGroups > groups)
    throw wrong(
      `${experts} experts cannot be split into ${groups} groups with ${topGroups} used.`,
      'The number of groups must divide the number of experts.',
    );
  if (topK > (experts / groups) * topGroups)
    throw wrong(
      `${topGroups} groups of ${experts / groups} experts contain fewer than ${topK}.`,
      'Give more groups, or choose fewer experts.',
    );
}
