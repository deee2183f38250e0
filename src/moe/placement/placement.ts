/** Where experts live: every GPU holds as many places, each place one expert; an expert may have several (replicas). */
import { UserError } from '../../base/user-error.js';

export interface Machine {
  readonly gpus: number;
  /** Machines the GPUs are in, in order; traffic between them is dear. */
  readonly nodes: number;
  /** Places in all: experts plus replicas. */
  readonly places: number;
}

export interface Placement {
  readonly gpus: number;
  /** Expert of each place; GPU g holds places g·n … g·n + n − 1. */
  readonly expertOf: Int32Array;
  /** Replicas of each expert. */
  readonly replicas: Int32Array;
}

export function placementOf(expertOf: Int32Array, experts: number, gpus: number): Placement {
  const replicas = new Int32Array(experts);
  for (const expert of expertOf) replicas[expert]++;
  return { gpus, expertOf, replicas };
}

/** Tokens each GPU gets: an expert's tokens are shared evenly by its replicas. */
export function gpuLoads({ gpus, expertOf, replicas }: Placement, tokens: ArrayLike<number>): Float64Array {
  const loads = new Float64Array(gpus);
  const perGpu = expertOf.length / gpus;
  for (let place = 0; place < expertOf.length; place++) {
    const expert = expertOf[place];
    loads[Math.floor(place / perGpu)] += tokens[expert] / replicas[expert];
  }
  return loads;
}

export const wrong = (what: string, hint: string) => new UserError('usage', what, hint);

export function checkMachine(experts: number, { gpus, nodes, places }: Machine): void {
  const whole = (value: number) => Number.isInteger(value) && value > 0;
  if (![experts, gpus, nodes, places].every(whole))
    throw wrong('Experts, GPUs, nodes and slots must be whole numbers above 0.', 'Check the values given.');
  if (places < experts)
    throw wrong(
      `${places} slots cannot hold ${experts} experts.`,
      'Every expert needs a slot; replicas need additional slots.',
    );
  if (places % gpus !== 0)
    throw wrong(
      `${places} slots cannot be divided evenly among ${gpus} GPUs.`,
      `Choose replicas so that experts and replicas together are a multiple of ${gpus}.`,
    );
  if (gpus % nodes !== 0)
    throw wrong(
      `${gpus} GPUs cannot be divided evenly among ${nodes} nodes.`,
      'The number of GPUs must be a multiple of the number of nodes.',
    );
}

export function checkTokens(tokens: ArrayLike<number>): void {
  for (let i = 0; i < tokens.length; i++)
    if (!(tokens[i] >= 0 && Number.isFinite(tokens[i])))
      throw wrong(
        `The load of expert ${i} is ${tokens[i]}.`,
        'Loads are token counts: finite and at least 0.',
      );
}
