/**
 * How one clock runs against another, from moments that both saw at the same time. Medians, so that a few moments that
 * were not the same do no harm:
 *
 *   difference  ·  ·    ·            offset: the median; drift: the median slope of pairs half the list apart
 *             ·    · ·     · ·
 */
import { medianOf } from '../../stats/summary.js';

export interface ClockFit {
  /** What the clock shows more than the other at `at`, on the other's time. */
  readonly offsetNs: number;
  readonly at: number;
  /** Nanoseconds gained per nanosecond; 0 where the moments do not show a drift. */
  readonly drift: number;
  /** Half of the moments differ by less than this from the fit. */
  readonly residualNs: number;
  readonly moments: number;
}

/** Below this a slope is a guess. */
const FEWEST_FOR_DRIFT = 20;
/** A drift must explain at least this part of the residual that a constant leaves. */
const EXPLAINED = 0.2;

/** NTP slews a clock by at most 500 ppm (RFC 5905), and quartz drifts by less: what is faster is not a clock. */
const MOST_DRIFT = 500e-6;

/** `times` on the other clock, in order; `differences` own minus other. */
export function fitClock(times: Float64Array, differences: Float64Array): ClockFit {
  const moments = times.length;
  const at = times[0] ?? 0;
  const constant = medianOf(differences.slice());
  const residualNs = medianOf(differences.map(d => Math.abs(d - constant)));
  const flat: ClockFit = { offsetNs: constant, at, drift: 0, residualNs, moments };
  if (moments < FEWEST_FOR_DRIFT) return flat;
  const half = moments >> 1;
  const slopes = new Float64Array(half);
  for (let i = 0; i < half; i++) {
    const span = times[i + half] - times[i];
    slopes[i] = span > 0 ? (differences[i + half] - differences[i]) / span : 0;
  }
  const drift = medianOf(slopes);
  if (Math.abs(drift) > MOST_DRIFT) return flat;
  const level = differences.map((d, i) => d - drift * (times[i] - at));
  const offsetNs = medianOf(level.slice());
  const sloped = medianOf(level.map(d => Math.abs(d - offsetNs)));
  return sloped <= (1 - EXPLAINED) * residualNs && residualNs > 0
    ? { offsetNs, at, drift, residualNs: sloped, moments }
    : flat;
}

/** What the clock shows more than the other when the other shows `time`. */
export const aheadAt = ({ offsetNs, at, drift }: Pick<ClockFit, 'offsetNs' | 'at' | 'drift'>, time: number) =>
  offsetNs + drift * (time - at);
