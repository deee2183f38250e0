/** Every change there is, in the order they are applied: what edits single calls and kernels before what replaces them. */
import type { Change } from './change.js';
import { asyncScheduling } from './changes/async.js';
import { batchOf } from './changes/batch.js';
import { fewerSyncs } from './changes/fewer-syncs.js';
import { fp8 } from './changes/fp8.js';
import { graphs } from './changes/graphs.js';
import { noGc } from './changes/no-gc.js';
import { noProfiler } from './changes/no-profiler.js';
import { perfectRouting } from './changes/perfect-routing.js';
import { pinned } from './changes/pinned.js';

interface AskedChanges {
  readonly noProfiler?: boolean;
  readonly noGc?: boolean;
  readonly pinned?: boolean;
  readonly fewerSyncs?: boolean;
  readonly batch?: { readonly requests: number };
  readonly perfectRouting?: boolean;
  readonly fp8?: boolean;
  readonly graphs?: boolean;
  readonly async?: boolean;
}

export function changesOf(asked: AskedChanges): Change[] {
  const order: readonly (readonly [unknown, () => Change])[] = [
    [asked.noProfiler, () => noProfiler],
    [asked.noGc, () => noGc],
    [asked.pinned, () => pinned],
    [asked.fewerSyncs, () => fewerSyncs],
    [asked.batch, () => batchOf(asked.batch!.requests)],
    [asked.perfectRouting, () => perfectRouting],
    [asked.fp8, () => fp8],
    [asked.graphs, () => graphs],
    [asked.async, () => asyncScheduling],
  ];
  return order.flatMap(([wanted, change]) => (wanted ? [change()] : []));
}
