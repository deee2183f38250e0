/**
 * Sizes of the matrices that a program multiplied, as the PyTorch profiler writes them down with `record_shapes`: the
 * width of a model is among them. Reading shapes costs more than all else in a trace, so it is asked for apart, where
 * a model is given.
 */
import { NONE } from '../../base/column.js';
import type { Profile, Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';

const PRODUCT = /^aten::(linear|mm|addmm|bmm|matmul|_scaled_mm)$/;

/** What to read where a model is given, for the function below to find something. */
export const shapesToRead: Derived<undefined> = {
  id: 'shapes-to-read',
  reads: { ops: ['shapes'] },
  uses: [],
  compute: () => undefined,
};

/** Undefined where no shapes were recorded, or read. */
export function multipliedSizes({ tables: { ops }, strings }: Profile): ReadonlySet<number> | undefined {
  if (!ops?.shapes) return undefined;
  const texts = new Set<number>();
  for (let row = 0 as Row<'ops'>; row < ops.length; row++) {
    const shapes = ops.shapes[row];
    if (shapes !== NONE && PRODUCT.test(strings.text(ops.name[row]))) texts.add(shapes);
  }
  const sizes = new Set<number>();
  for (const text of texts)
    for (const [digits] of strings.text(text).matchAll(/\d+/g)) sizes.add(Number(digits));
  return sizes.size > 0 ? sizes : undefined;
}
