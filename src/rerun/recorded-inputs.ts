/** Strides and scalars with which an operator was called most often, of all calls with the same shapes. */
import type { Derived } from '../analyze/analysis.js';
import { NONE } from '../base/column.js';
import type { Profile, Row } from '../model/profile.js';
import type { RecordedInputs } from './operator-inputs.js';

/** For a command that asks for inputs: these columns are read only where they are named. */
export const inputsRead: Derived<undefined> = {
  id: 'operator-inputs',
  reads: { ops: ['shapes', 'types', 'strides', 'values'] },
  uses: [],
  compute: () => undefined,
};

export function recordedInputs(
  { tables: { ops }, strings }: Profile,
  operator: string,
  shapes: string,
  types: string,
): RecordedInputs {
  const counts = new Map<string, { strides: number; values: number; count: number }>();
  const text = (id: number | undefined) => (id === undefined || id === NONE ? '' : strings.text(id));
  const wanted = new Map<string, boolean>();
  for (let row = 0 as Row<'ops'>; row < (ops?.length ?? 0); row++) {
    const name = ops!.name[row];
    const own = `${name}/${ops!.shapes?.[row]}/${ops!.types?.[row]}`;
    let isOne = wanted.get(own);
    if (isOne === undefined) {
      isOne =
        text(name) === operator &&
        tensorsOf(text(ops!.shapes?.[row])) === tensorsOf(shapes) &&
        text(ops!.types?.[row]) === types;
      wanted.set(own, isOne);
    }
    if (!isOne) continue;
    const [strides, values] = [ops!.strides?.[row] ?? NONE, ops!.values?.[row] ?? NONE];
    const known = counts.get(`${strides}/${values}`);
    if (known) known.count++;
    else counts.set(`${strides}/${values}`, { strides, values, count: 1 });
  }
  const [most] = [...counts.values()].sort((a, b) => b.count - a.count);
  return { shapes, types, strides: text(most?.strides), values: text(most?.values) };
}

/** Analyses leave out what is no tensor at the end of the shapes. */
const tensorsOf = (shapes: string): string => shapes.replace(/(?:,?\[\])+\]$/, ']');
