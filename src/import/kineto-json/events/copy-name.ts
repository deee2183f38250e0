/** What a copy's name tells: `Memcpy HtoD (Pageable -> Device)`, on ROCm also `CopyHostToDevice`. */
import { NONE } from '../../../base/column.js';

export interface CopyName {
  /** CUPTI's memcpy kind; 0 when the name does not say. */
  kind: number;
  sourceMemory: number;
  targetMemory: number;
}

const kinds: readonly [pattern: RegExp, kind: number][] = [
  [/HtoD|HostToDevice/i, 1],
  [/DtoH|DeviceToHost/i, 2],
  [/HtoA/, 3],
  [/AtoH/, 4],
  [/AtoA/, 5],
  [/AtoD/, 6],
  [/DtoA/, 7],
  [/DtoD|DeviceToDevice/i, 8],
  [/HtoH|HostToHost/i, 9],
  [/PtoP|PeerToPeer/i, 10],
];
const memories: Record<string, number> = {
  pageable: 0,
  pinned: 1,
  device: 2,
  'device static': 2,
  array: 3,
  managed: 4,
  'managed static': 4,
};

/** `kindArgument` is ROCm's `kind`, for names that do not say. */
export function parseCopyName(name: string, kindArgument: string): CopyName {
  const arrow = /\(([^()]*?) -> ([^()]*?)\)/.exec(name);
  return {
    kind: kindIn(name) || kindIn(kindArgument),
    sourceMemory: arrow ? memoryKind(arrow[1]) : NONE,
    targetMemory: arrow ? memoryKind(arrow[2]) : NONE,
  };
}

/** The memory in `Memset (Device)`. */
export function parseMemsetName(name: string): number {
  const inside = /\(([^()]*)\)/.exec(name);
  return inside ? memoryKind(inside[1]) : NONE;
}

function kindIn(text: string): number {
  return kinds.find(([pattern]) => pattern.test(text))?.[1] ?? 0;
}

function memoryKind(word: string): number {
  return memories[word.trim().toLowerCase()] ?? NONE;
}
