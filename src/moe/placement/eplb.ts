/**
 * The published placement method EPLB (github.com/deepseek-ai/EPLB, policies hierarchical and global), step by step as
 * its authors describe it: replicas go one by one to the expert whose replicas carry most; packs are filled heaviest
 * first into the lightest that has room; hierarchically, groups of experts go to nodes before experts go to GPUs.
 */
import { checkMachine, checkTokens, type Machine, type Placement, placementOf, wrong } from './placement.js';

export interface EplbShape extends Machine {
  /** Groups of experts (group-limited routing); the hierarchical policy needs nodes to divide them. */
  readonly groups?: number;
}

export function eplb(tokens: ArrayLike<number>, shape: EplbShape): Placement {
  const { gpus, nodes, places, groups = 1 } = shape;
  const experts = tokens.length;
  checkMachine(experts, shape);
  checkTokens(tokens);
  if (experts % groups !== 0)
    throw wrong(
      `${experts} experts cannot be split into ${groups} groups.`,
      'The number of experts must be a multiple of the number of groups.',
    );
  const hierarchical = groups % nodes === 0;
  const expertOf = hierarchical
    ? place(tokens, places, groups, nodes, gpus)
    : place(tokens, places, 1, 1, gpus);
  return placementOf(expertOf, experts, gpus);
}

function place(
  tokens: ArrayLike<number>,
  places: number,
  groups: number,
  nodes: number,
  gpus: number,
): Int32Array {
  const experts = tokens.length;
  const groupSize = experts / groups;
  const groupsPerNode = groups / nodes;
  const perNode = experts / nodes;
  const ofGroup = Float64Array.from({ length: groups }, (_, group) => {
    let sum = 0;
    for (let i = 0; i < groupSize; i++) sum += tokens[group * groupSize + i];
    return sum;
  });
  const { pack: nodeOf, rank: rankOf } = packEvenly(ofGroup, nodes);
  // Experts in the order of the nodes their groups went to.
  const expertAt = new Int32Array(experts);
  for (let group = 0; group < groups; group++)
    for (let i = 0; i < groupSize; i++)
      expertAt[(nodeOf[group] * groupsPerNode + rankOf[group]) * groupSize + i] = group * groupSize + i;
  const expertOf = new Int32Array(places);
  const placesPerNode = places / nodes;
  const gpusPerNode = gpus / nodes;
  const perGpu = places / gpus;
  for (let node = 0; node < nodes; node++) {
    const own = Float64Array.from({ length: perNode }, (_, i) => tokens[expertAt[node * perNode + i]]);
    const { expertOfReplica, replicas } = replicate(own, placesPerNode);
    const loads = Float64Array.from(expertOfReplica, expert => own[expert] / replicas[expert]);
    const { pack, rank } = packEvenly(loads, gpusPerNode);
    expertOfReplica.forEach((expert, i) => {
      expertOf[node * placesPerNode + pack[i] * perGpu + rank[i]] = expertAt[node * perNode + expert];
    });
  }
  return expertOf;
}

/** One replica after the other to the expert whose replicas carry most. */
function replicate(
  tokens: Float64Array,
  places: number,
): { expertOfReplica: Int32Array; replicas: Int32Array } {
  const experts = tokens.length;
  const replicas = new Int32Array(experts).fill(1);
  const expertOfReplica = Int32Array.from({ length: places }, (_, i) => i);
  for (let i = experts; i < places; i++) {
    let heaviest = 0;
    for (let expert = 1; expert < experts; expert++)
      if (tokens[expert] / replicas[expert] > tokens[heaviest] / replicas[heaviest]) heaviest = expert;
    expertOfReplica[i] = heaviest;
    replicas[heaviest]++;
  }
  return { expertOfReplica, replicas };
}

/** As many things in each pack: the heaviest first, into the lightest pack that has room. */
function packEvenly(weights: Float64Array, packs: number): { pack: Int32Array; rank: Int32Array } {
  const count = weights.length;
  const room = count / packs;
  const pack = new Int32Array(count);
  const rank = new Int32Array(count);
  if (room === 1) return { pack: pack.map((_, i) => i), rank };
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => weights[b] - weights[a] || a - b);
  const loads = new Float64Array(packs);
  const filled = new Int32Array(packs);
  for (const thing of order) {
    let lightest = -1;
    for (let i = 0; i < packs; i++)
      if (filled[i] < room && (lightest < 0 || loads[i] < loads[lightest])) lightest = i;
    pack[thing] = lightest;
    rank[thing] = filled[lightest]++;
    loads[lightest] += weights[thing];
  }
  return { pack, rank };
}
