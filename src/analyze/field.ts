/** The fields of an analysis, and the type its rows have by them: `type GcRow = RowOf<typeof fields>`. */
import type { Field } from './analysis.js';

declare const held: unique symbol;

/** A field in which rows hold a `Value`. */
export interface FieldOf<Value> extends Field {
  readonly [held]?: Value;
}

export type RowOf<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends FieldOf<infer Value> ? Value : never;
};

type More = Pick<Field, 'priority' | 'drawn'>;

const numeric =
  (kind: Field['kind']) =>
  (header: string, about: string, more: More = {}): FieldOf<number> => ({ header, kind, about, ...more });

/** By kind: header, what it is, and where it matters how a narrow terminal or a drawing takes it. */
export const field = {
  text: <Word extends string>(header: string, about: string, more: More = {}): FieldOf<Word> => ({
    ...{ header, kind: 'text', about, ...more },
  }),
  flag: (header: string, about: string): FieldOf<boolean> => ({ header, kind: 'flag', about }),
  mapNs: (header: string, about: string, more: More = {}): FieldOf<Readonly<Record<string, number>>> => ({
    ...{ header, kind: 'map-ns', about, ...more },
  }),
  list: <Item>(header: string, about: string, more: More = {}): FieldOf<readonly Item[]> => ({
    ...{ header, kind: 'list', about, ...more },
  }),
  id: numeric('id'),
  count: numeric('count'),
  mean: numeric('mean'),
  /** Things per second; the header says which. */
  rate: numeric('rate'),
  ns: numeric('ns'),
  nsMean: numeric('ns-mean'),
  timestamp: numeric('timestamp'),
  share: numeric('share'),
  percent: numeric('percent'),
  bytes: numeric('bytes'),
  bytesPerSecond: numeric('bytes-per-second'),
};

/** May be null: not known or not recorded. */
export const maybe = <Value>(known: FieldOf<Value>): FieldOf<Value | null> => ({ ...known, optional: true });

/** Not in the table for people; JSON and CSV have it. */
export const quiet = <Value>(known: FieldOf<Value>): FieldOf<Value> => ({ ...known, quiet: true });

/** Every row has a name that stays the same from run to run and file to file. */
export const keyField = quiet(field.text<string>('Key', 'stable identifier of the row'));
