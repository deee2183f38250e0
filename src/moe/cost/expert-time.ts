/**
 * How long a GPU's experts of one layer take, by the token-expert pairs it got: a floor (weights are read however few
 * tokens come) and so much per pair. Fitted to measurements, or assumed and said so.
 */
import { UserError } from '../../base/user-error.js';

export interface ExpertTime {
  readonly floorNs: number;
  readonly nsPerPair: number;
  readonly basis: 'fitted' | 'given' | 'assumed';
  /** How it was come by, for the reader. */
  readonly about: string;
  /** Part of the spread of the measurements it explains, 0 to 1; fitted alone. */
  readonly explains?: number;
}

export interface TimePoint {
  readonly pairs: number;
  readonly ns: number;
}

export const expertNs = ({ floorNs, nsPerPair }: ExpertTime, pairs: number): number =>
  // A GPU without tokens launches nothing worth the name.
  pairs > 0 ? floorNs + nsPerPair * pairs : 0;

/** Time in proportion to tokens: the most that imbalance can cost. Lengths are relative, one unit per pair. */
export const proportional: ExpertTime = {
  floorNs: 0,
  nsPerPair: 1,
  basis: 'assumed',
  about: 'expert time proportional to tokens, with no floor: an upper bound on the cost of imbalance',
};

/** Least squares with a floor and a slope that are not negative. Undefined where all points have as many tokens. */
export function fitExpertTime(points: readonly TimePoint[]): ExpertTime | undefined {
  const n = points.length;
  const mean = (of: (point: TimePoint) => number) => points.reduce((sum, point) => sum + of(point), 0) / n;
  const [x, y] = [mean(point => point.pairs), mean(point => point.ns)];
  const squares = points.reduce((sum, { pairs }) => sum + (pairs - x) ** 2, 0);
  if (n < 2 || !(squares > (0.02 * x) ** 2 * n)) return undefined;
  const products = points.reduce((sum, { pairs, ns }) => sum + (pairs - x) * (ns - y), 0);
  let nsPerPair = Math.max(0, products / squares);
  let floorNs = y - nsPerPair * x;
  if (floorNs < 0) {
    floorNs = 0;
    nsPerPair =
      points.reduce((sum, { pairs, ns }) => sum + pairs * ns, 0) /
      points.reduce((sum, { pairs }) => sum + pairs * pairs, 0);
  }
  const rest = points.reduce((sum, { pairs, ns }) => sum + (ns - floorNs - nsPerPair * pairs) ** 2, 0);
  const spread = points.reduce((sum, { ns }) => sum + (ns - y) ** 2, 0);
  return {
    floorNs,
    nsPerPair,
    basis: 'fitted',
    about: `fitted to ${n} measurements of expert time vs tokens`,
    explains: spread > 0 ? Math.max(0, 1 - rest / spread) : 1,
  };
}

/** `--expert-time 12us+3.4ns`: a floor and a time per token-expert pair. */
export function readExpertTime(text: string): ExpertTime {
  const units: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6 };
  const match = /^(\d+(?:\.\d+)?)(ns|us|µs|ms)\+(\d+(?:\.\d+)?)(ns|us|µs|ms)$/.exec(text.trim());
  if (!match)
    throw new UserError(
      'usage',
      `${JSON.stringify(text)} is not a valid expert time.`,
      'Give a floor and a time per token and expert, for example --expert-time 45us+12ns',
    );
  const [floorNs, nsPerPair] = [Number(match[1]) * units[match[2]], Number(match[3]) * units[match[4]]];
  return {
    floorNs,
    nsPerPair,
    basis: 'given',
    about: `expert time given as ${text.trim()} per token and expert`,
  };
}
