/**
 * When requests of an open loop are to be sent, in nanoseconds from its begin. `poisson`: gaps drawn at random, as
 * from many users who do not know of each other; `constant`: one gap like the other. While the load ramps up, the
 * rate grows in a line from 0:
 *
 *   rate   ____________        The k-th request comes where the area under this line is the sum of k gaps
 *         /|                   of mean 1.
 *        / |
 *   time 0 ramp
 */

import { exponential, type Random } from '../stats/random.js';
import { NS_PER_SECOND } from './clock.js';

export type ArrivalKind = 'poisson' | 'constant';

export function* arrivalTimes(
  perSecond: number,
  kind: ArrivalKind,
  random: Random,
  rampNs = 0,
): Generator<number, never> {
  const perNs = perSecond / NS_PER_SECOND;
  const rampArea = (perNs * rampNs) / 2;
  let area = 0;
  for (let i = 0; ; i++) {
    if (kind === 'poisson') area += exponential(random);
    else area = i;
    yield Math.round(
      area < rampArea ? Math.sqrt((2 * area * rampNs) / perNs) : rampNs + (area - rampArea) / perNs,
    );
  }
}
