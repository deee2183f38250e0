/**
 * What can be asked for: words and conditions, all of which must hold.
 *
 *   gemm 128x64                     names that contain both, capital letters or not; the name of a family finds it all
 *   /gemm_.*_128x\d+/               a regular expression, capital letters or not
 *   name:"void foo<int>"            quotes keep spaces together
 *   dur>50us  dur<=1.5ms  dur:1us..2us
 *   family:attention  cause:launch-bound  phase:decode  step:12  step:12-20
 *   family:gemm,attention           either; so for causes and phases
 *   track:stream                    tracks whose name or group contains it
 *   -family:gemm  -warmup           a minus turns a condition around
 */
import { UserError } from '../../base/user-error.js';
import { palettes } from '../palettes.js';

export type Condition =
  | {
      readonly kind: 'name' | 'family' | 'cause' | 'phase' | 'track';
      readonly text: string;
      readonly not: boolean;
    }
  | { readonly kind: 'pattern'; readonly pattern: RegExp; readonly not: boolean }
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
  /** Text between slashes. */
  readonly regular: string | undefined;
  readonly isQuoted: boolean;
  /** Text before the first `:`, `<`, `>` or `=` outside quotes; empty where there is none. */
  readonly key: string;
  readonly sign: string;
  readonly value: string;
}

function tokensOf(text: string): Token[] {
  const pattern =
    /(-?)(?:\/((?:[^/\\]|\\.)+)\/(?=\s|$)|(?:([a-z]+)(:|>=|<=|>|<|=))?(?:"((?:[^"\\]|\\.)*)"|(\S+)))/gi;
  return [...text.matchAll(pattern)].map(([, minus, regular, key = '', sign = '', quoted, plain = '']) => ({
    not: minus === '-',
    regular,
    key: key.toLowerCase(),
    sign,
    isQuoted: quoted !== undefined,
    value: quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1'),
  }));
}

function parseToken(token: Token): Condition {
  const { key, sign, value, not, regular } = token;
  if (regular !== undefined) return { kind: 'pattern', pattern: patternOf(regular), not };
  if (key === 'dur' || key === 'duration') return durationOf(token);
  if (key === 'step' || key === 'iteration') return stepOf(token);
  const kind = textKinds.find(known => known === key);
  if (kind && sign === ':') return { kind, text: knownText(kind, value.toLowerCase()), not };
  // `aten::copy_`, `std::…` and `12:30` are names, not conditions.
  if (sign === ':' && /^[a-z"]/i.test(value) && key !== '' && !token.isQuoted)
    throw wrong(
      `${JSON.stringify(`${key}:`)} is not a filter.`,
      `Filters: ${[...textKinds, 'dur', 'step'].join(', ')}. For a name that contains it: name:"${key}:${value}"`,
    );
  return { kind: 'name', text: `${key}${sign}${value}`.toLowerCase(), not };
}

/** Families, causes and phases that do not exist would find nothing, and nobody would know why. */
function knownText(kind: (typeof textKinds)[number], text: string): string {
  if (kind === 'name' || kind === 'track') return text;
  const unknown = text
    .split(',')
    .find(
      one =>
        !palettes[kind].some(({ id, label }) => id.startsWith(one) || label.toLowerCase().startsWith(one)),
    );
  if (unknown === undefined) return text;
  throw wrong(
    `${JSON.stringify(unknown)} is not a ${{ family: 'kernel family', cause: 'cause of idle time', phase: 'phase' }[kind]}.`,
    `Known: ${palettes[kind].map(({ id }) => id).join(', ')}`,
  );
}

function patternOf(text: string): RegExp {
  try {
    return new RegExp(text, 'i');
  } catch (error) {
    throw wrong(
      `/${text}/ is not a regular expression: ${(error as Error).message.replace(/^.*: /, '')}.`,
      'Correct it, or search for the text itself in quotes: name:"…"',
    );
  }
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
