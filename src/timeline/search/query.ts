/**
 * What can be asked for: words and conditions, all of which must hold.
 *
 *   gemm 128x64                     names that contain both, capital letters or not
 *   name:"void foo<int>"            quotes keep spaces together
 *   dur>50us  dur<=1.5ms  dur:1us..2us
 *   family:attention  cause:launch-bound  phase:decode  step:12  step:12-20
 *   track:stream                    tracks whose name or group contains it
 *   -family:gemm  -warmup           a minus turns a condition around
 */
import { UserError } from '../../base/user-error.js';

export type Condition =
  | {
      readonly kind: 'name' | 'family' | 'cause' | 'phase' | 'track';
      readonly text: string;
      readonly not: boolean;
    }
  /** Nanoseconds; both ends may be infinite. */
  | {
      readonly kind: 'duration';
      readonly least: number;
      readonly most: number;
      /** The ends themselves are left out. */
      readonly open: boolean;
      readonly not: boolean;
    }
  | { readonly kind: 'step'; readonly first: number; readonly last: number; readonly not: boolean };

const LONGEST_QUERY = 500;
const textKinds = ['name', 'family', 'cause', 'phase', 'track'] as const;

const wrong = (what: string, hint: string) => new UserError('usage', what, hint);

export function parseQuery(text: string): Condition[] {
  if (text.length > LONGEST_QUERY)
    throw wrong('This search is too long.', `Use at most ${LONGEST_QUERY} characters.`);
  return tokensOf(text).map(parseToken);
}

interface Token {
  readonly not: boolean;
  /** Text before the first `:`, `<`, `>` or `=` outside quotes; empty where there is none. */
  readonly key: string;
  readonly sign: string;
  readonly value: string;
}

function tokensOf(text: string): Token[] {
  const pattern = /(-?)(?:([a-z]+)(:|>=|<=|>|<|=))?(?:"((?:[^"\\]|\\.)*)"|(\S+))/gi;
  return [...text.matchAll(pattern)].map(([, minus, key = '', sign = '', quoted, plain = '']) => ({
    not: minus === '-',
    key: key.toLowerCase(),
    sign,
    value: quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'),
  }));
}

function parseToken(token: Token): Condition {
  const { key, sign, value, not } = token;
  if (key === 'dur' || key === 'duration') return durationOf(token);
  if (key === 'step' || key === 'iteration') return stepOf(token);
  const kind = textKinds.find(known => known === key);
  if (kind && sign === ':') return { kind, text: value.toLowerCase(), not };
  // `aten::copy_` and `std::…` are names, not conditions.
  return { kind: 'name', text: `${key}${sign}${value}`.toLowerCase(), not };
}

const units: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

function durationOf({ sign, value, not }: Token): Condition {
  const one = (text: string): number => {
    const match = /^(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s)?$/i.exec(text);
    if (!match)
      throw wrong(
        `${JSON.stringify(text)} is not a duration.`,
        'For example: dur>50us, dur<=1.5ms, dur:1us..2us',
      );
    return Number(match[1]) * units[(match[2] ?? 'us').toLowerCase()];
  };
  const [low, high] = value.split('..');
  if (high !== undefined) return { kind: 'duration', least: one(low), most: one(high), open: false, not };
  const ns = one(value);
  const open = sign === '>' || sign === '<';
  if (sign.startsWith('>')) return { kind: 'duration', least: ns, most: Infinity, open, not };
  if (sign.startsWith('<')) return { kind: 'duration', least: -Infinity, most: ns, open, not };
  return { kind: 'duration', least: ns, most: ns, open: false, not };
}

function stepOf({ value, not }: Token): Condition {
  const match = /^(\d+)(?:-(\d+))?$/.exec(value);
  if (!match) throw wrong(`${JSON.stringify(value)} is not a step.`, 'For example: step:12 or step:12-20');
  const first = Number(match[1]);
  return { kind: 'step', first, last: match[2] === undefined ? first : Number(match[2]), not };
}
