/**
 * `--when 'batch>=32 and waiting==0'`: a window opens once the engine's own counters say so. Comparisons joined by
 * `and` and `or`, as in most languages: `and` binds tighter. Only what engines report has a name.
 */
import { UserError } from '../base/user-error.js';

export const counterNames = ['batch', 'running', 'waiting', 'tokens', 'kv', 'iteration'] as const;
export type CounterName = (typeof counterNames)[number];

const tests = {
  '>=': (a: number, b: number) => a >= b,
  '<=': (a: number, b: number) => a <= b,
  '==': (a: number, b: number) => a === b,
  '!=': (a: number, b: number) => a !== b,
  '>': (a: number, b: number) => a > b,
  '<': (a: number, b: number) => a < b,
} as const;
type Sign = keyof typeof tests;

interface Comparison {
  readonly counter: CounterName;
  readonly sign: Sign;
  readonly value: number;
}

export interface WindowCondition {
  /** In one spelling, whatever the user wrote. */
  readonly text: string;
  /** One of these lists must hold, all of it. */
  readonly anyOf: readonly (readonly Comparison[])[];
}

const COMPARISON = /^([a-z]+)\s*(>=|<=|==|!=|>|<|=)\s*(\d{1,12}(?:\.\d{1,6})?)\s*(%?)$/i;

export function readCondition(text: string): WindowCondition {
  const anyOf = text
    .split(/\s*(?:\|\||\bor\b)\s*/i)
    .map(part => part.split(/\s*(?:&&|\band\b|,)\s*/i).map(word => readComparison(word.trim(), text)));
  return { text: anyOf.map(all => all.map(comparisonText).join(' and ')).join(' or '), anyOf };
}

function readComparison(word: string, whole: string): Comparison {
  const match = COMPARISON.exec(word);
  if (!match) throw wrong(whole, word === '' ? 'has an empty part' : `contains ${JSON.stringify(word)}`);
  const [, name, sign, number, percent] = match;
  const counter = counterNames.find(known => known === name.toLowerCase());
  if (!counter)
    throw wrong(whole, `names ${JSON.stringify(name)}, which is not one of ${counterNames.join(', ')}`);
  const value = Number(number);
  if (percent && counter !== 'kv') throw wrong(whole, `has a percentage of ${counter}`);
  if (counter === 'kv' && value > 100) throw wrong(whole, 'has a share of the KV cache above 100%');
  return { counter, sign: (sign === '=' ? '==' : sign) as Sign, value };
}

const wrong = (text: string, why: string) =>
  new UserError(
    'usage',
    `--when ${JSON.stringify(text)} ${why}.`,
    `Compare ${counterNames.join(', ')} with a number, joined by and, or: --when 'batch>=32 and waiting==0', --when 'kv>=80%'`,
  );

const comparisonText = ({ counter, sign, value }: Comparison): string =>
  `${counter}${sign}${value}${counter === 'kv' ? '%' : ''}`;

type Counters = Readonly<Partial<Record<CounterName, number>>>;

export const countersOf = ({ anyOf }: WindowCondition): readonly CounterName[] => [
  ...new Set(anyOf.flat().map(({ counter }) => counter)),
];

/** A counter that is not reported decides nothing: what depends on it does not hold. */
export const holds = ({ anyOf }: WindowCondition, counters: Counters): boolean =>
  anyOf.some(all =>
    all.every(({ counter, sign, value }) => {
      const now = counters[counter];
      return now !== undefined && tests[sign](now, value);
    }),
  );

/** A user whose request ended needs a moment to send the next: so many more keep a batch above its bound. */
const RESERVE = 0.25;

/** How many requests at a time a condition needs, where it says so. */
export function requestsNeeded({ anyOf }: WindowCondition): number {
  const lower = (all: readonly Comparison[], ...names: CounterName[]) =>
    all
      .filter(({ counter, sign }) => names.includes(counter) && /^(>=|==|>)$/.test(sign))
      .reduce((most, { sign, value }) => {
        const least = Math.ceil(value) + (sign === '>' ? 1 : 0);
        return Math.max(most, sign === '==' ? least : Math.ceil(least * (1 + RESERVE)));
      }, 0);
  return Math.min(...anyOf.map(all => lower(all, 'batch', 'running') + lower(all, 'waiting')));
}
