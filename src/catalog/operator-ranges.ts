/**
 * Operators that a program marks as NVTX ranges: `torch.autograd.profiler.emit_nvtx` writes
 * `aten::mm, op_id = 31`, and with `record_shapes` also `sizes = [[8, 2048], [2048, 2560]]`.
 */
interface MarkedOperator {
  readonly name: string;
  /** JSON; empty where not marked. */
  readonly shapes: string;
}

const OPERATOR = /^([A-Za-z_]\w*::[\w.]+|\w+Backward\d*)(?:, (?:seq|op_id|sizes|input_op_ids) = .*)?$/s;
const SIZES = /, sizes = (\[(?:[\d\s,[\]])*\])/;

export function markedOperator(range: string): MarkedOperator | undefined {
  const name = OPERATOR.exec(range)?.[1];
  if (name === undefined) return undefined;
  return { name, shapes: (SIZES.exec(range)?.[1] ?? '').replace(/\s/g, '') };
}
