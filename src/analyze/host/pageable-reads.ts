/** Copies that make the host wait although the call says it does not. */
import { NONE } from '../../base/column.js';
import { CopyKind, MemoryKind } from '../../catalog/cuda-enums.js';
import type { Profile, Row } from '../../model/profile.js';

/** Per API call: 1 for an "async" copy into pageable memory, which returns when it is done. */
export function pageableReads(profile: Profile, calls: number): Uint8Array | undefined {
  const copies = profile.tables.copies;
  if (!copies?.targetMemory) return undefined;
  const waiting = new Uint8Array(calls);
  for (let row = 0 as Row<'copies'>; row < copies.length; row++) {
    const isWait =
      copies.kind[row] === CopyKind.deviceToHost && copies.targetMemory[row] === MemoryKind.pageable;
    if (isWait && copies.launch[row] !== NONE) waiting[copies.launch[row]] = 1;
  }
  return waiting;
}
