/**
 * Python stacks: nsys writes them as NVTX marks whose payload is binary, those of `--python-sampling` in the domain
 * "Python Periodic Sampling" and those of `--python-backtrace=cuda` in "Python Backtrace on CUDA". An export has the
 * payloads only when it was made with `--include-blobs=true`. All numbers are little-endian:
 *
 *   0   u64 domain, u64 schema, u64 size of the payload, u64 where it begins (or the size of everything)
 *   32  u64 id and u32 state of the thread, u32 number of functions
 *   48  per function, innermost first: u64 its name and u64 its file (ids of StringIds), u32 line, 4 bytes of anything
 *
 * From 32 on this is the schema in NVTX_PAYLOAD_SCHEMA_ENTRIES; the header is not documented. A payload therefore
 * counts only if every number in it fits; others are other payloads.
 */
import { NONE } from '../../base/column.js';
import { FrameKind, ThreadState } from '../../model/schema.js';
import type { StackFrame } from './stack-tree.js';
import type { StringIds } from './string-ids.js';

const HEADER_BYTES = 32;
const STATE_AT = 40;
const COUNT_AT = 44;
const FRAMES_AT = 48;
const FRAME_BYTES = 24;
const MAX_LINE = 10_000_000;
/** Strings of a file are numbered from 0 on, and domains from 1. */
const MAX_ID = 2 ** 31;
const MAX_SCHEMA = 2 ** 40;

interface PythonStack {
  readonly state: number;
  /** From the innermost function outwards. */
  readonly frames: readonly StackFrame[];
}

/** The same with ids of the file's strings instead of the Profile's. */
interface PythonPayload {
  readonly state: number;
  readonly frames: readonly { readonly name: number; readonly file: number; readonly line: number }[];
  /** It holds nothing else: sizes and ids in the header are such. */
  readonly isExact: boolean;
}

/** The numbers in a payload that has the form of a stack; undefined when it is something else. */
export function pythonPayload(bytes: Uint8Array, from: number, to: number): PythonPayload | undefined {
  const size = to - from;
  if (size < FRAMES_AT || (size - FRAMES_AT) % FRAME_BYTES !== 0) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, size);
  const wide = (at: number) => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
  const state = view.getUint32(STATE_AT, true);
  const count = view.getUint32(COUNT_AT, true);
  if (count !== (size - FRAMES_AT) / FRAME_BYTES || state > ThreadState.transition) return undefined;
  const frames: PythonPayload['frames'][number][] = [];
  for (let at = FRAMES_AT; at < size; at += FRAME_BYTES) {
    const frame = { name: wide(at), file: wide(at + 8), line: view.getUint32(at + 16, true) };
    if (frame.name > MAX_ID || frame.file > MAX_ID || frame.line > MAX_LINE) return undefined;
    frames.push(frame);
  }
  const last = wide(24);
  const hasSizes = wide(16) === size - HEADER_BYTES && (last === HEADER_BYTES || last === size);
  const hasSmallIds = wide(0) <= MAX_ID && wide(8) <= MAX_SCHEMA && wide(HEADER_BYTES) <= MAX_ID;
  return { state, frames, isExact: hasSizes && hasSmallIds };
}

/** A payload that is a stack and nothing else, without what its memory held before; undefined: it is something else. */
export function onlyPythonStack(bytes: Uint8Array): Uint8Array | undefined {
  if (!pythonPayload(bytes, 0, bytes.length)?.isExact) return undefined;
  const only = bytes.slice();
  for (let at = FRAMES_AT; at < only.length; at += FRAME_BYTES) only.fill(0, at + 20, at + FRAME_BYTES);
  return only;
}

/** The stack in a payload, or undefined when the payload is something else. */
export function pythonStackIn(
  bytes: Uint8Array,
  from: number,
  to: number,
  strings: StringIds,
): PythonStack | undefined {
  const payload = pythonPayload(bytes, from, to);
  if (!payload) return undefined;
  const frames = payload.frames.map(({ name, file, line }) => ({
    ...{ name: strings.resolveEscaped(name), module: strings.resolveEscaped(file) },
    ...{ kind: FrameKind.python, line },
  }));
  return frames.some(({ name }) => name === NONE) ? undefined : { state: payload.state, frames };
}
