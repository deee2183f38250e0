/**
 * Python stacks: nsys writes them as NVTX marks whose payload is binary, those of `--python-sampling` in the domain
 * "Python Periodic Sampling" and those of `--python-backtrace=cuda` in "Python Backtrace on CUDA". An export has the
 * payloads only when it was made with `--include-blobs=true`. All numbers are little-endian:
 *
 *   0   u64 domain, u64 schema, u64 size of the payload, u64 size of everything
 *   32  u64 id and u32 state of the thread, u32 number of functions
 *   48  per function, innermost first: u64 its name and u64 its file (ids of StringIds), u64 line
 *
 * From 32 on this is the schema in NVTX_PAYLOAD_SCHEMA_ENTRIES; the header is not documented. A payload therefore
 * counts only if every number in it fits; others are other payloads.
 */
import { NONE } from '../../base/column.js';
import { FrameKind, ThreadState } from '../../model/schema.js';
import type { StackFrame } from './stack-tree.js';
import type { StringIds } from './string-ids.js';

const STATE_AT = 40;
const COUNT_AT = 44;
const FRAMES_AT = 48;
const FRAME_BYTES = 24;
const MAX_LINE = 10_000_000;

interface PythonStack {
  readonly state: number;
  /** From the innermost function outwards. */
  readonly frames: readonly StackFrame[];
}

/** The stack in a payload, or undefined when the payload is something else. */
export function pythonStackIn(
  bytes: Uint8Array,
  from: number,
  to: number,
  strings: StringIds,
): PythonStack | undefined {
  const size = to - from;
  if (size < FRAMES_AT || (size - FRAMES_AT) % FRAME_BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, size);
  const wide = (at: number) => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  const state = view.getUint32(STATE_AT, true);
  const count = view.getUint32(COUNT_AT, true);
  if (count !== (size - FRAMES_AT) / FRAME_BYTES || state > ThreadState.transition) return undefined;
  const frames: StackFrame[] = [];
  for (let at = FRAMES_AT; at < size; at += FRAME_BYTES) {
    const name = strings.resolve(wide(at));
    const line = wide(at + 16);
    if (name === NONE || line > MAX_LINE) return undefined;
    frames.push({ name, module: strings.resolve(wide(at + 8)), kind: FrameKind.python, line });
  }
  return { state, frames };
}
