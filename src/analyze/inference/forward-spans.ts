/**
 * Where the forward pass of each step begins and ends on a device: from its first layer to the end of its last one.
 * Replays recorded as blocks count as layers. What comes behind the last attention belongs to the last layer as long as
 * it is what comes behind the attention of the layer before.
 *
 *   … attention  gemm norm gemm  attention  gemm norm gemm  lm_head  sampling
 *                └── the same ──────────────┘└───────────┘ end
 */
import { NONE } from '../../base/column.js';
import { type FamilyId, families } from '../../catalog/kernels/families.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { HIDDEN, type WorkFamilies, workFamilies } from '../gpu/work-families.js';
import { stepWork } from './step-work.js';

interface Spans {
  /** Per device run; infinite where there is no layer. */
  readonly start: Float64Array;
  readonly end: Float64Array;
}

export const forwardSpans: Derived<Spans> = {
  id: 'forward-spans',
  reads: { kernels: [] },
  uses: [gpuWork, workFamilies, stepWork],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const found = use(stepWork);
    const names = profile.tables.kernels?.name;
    const nameOf = (i: number) =>
      work.kind[i] === WorkKind.kernel ? names![work.row[i] as Row<'kernels'>] : -1 - work.kind[i];
    return spansOf(work, use(workFamilies), found?.deviceRuns.length ?? 0, found?.runOfWork, nameOf);
  },
};

/** What only layers hold; a step without any is bounded by its GEMMs and norms. */
const INNER: readonly FamilyId[] = ['attention', 'recurrence', 'moe-router'];
const OUTER: readonly FamilyId[] = ['gemm', 'norm', 'convolution'];

function spansOf(
  work: GpuWork,
  { family }: WorkFamilies,
  count: number,
  runOfWork: Int32Array | undefined,
  nameOf: (work: number) => number,
): Spans {
  // Times before the origin are negative: no number stands for "none" but the infinities.
  const start = new Float64Array(count).fill(Infinity);
  const innerEnd = new Float64Array(count).fill(-Infinity);
  const outerEnd = new Float64Array(count).fill(-Infinity);
  const { pieces, first } = piecesByRun(count, runOfWork);
  const next = first.slice();
  const lastInner = new Int32Array(count).fill(NONE);
  const isInner = families.map(({ id }) => INNER.includes(id));
  const isOuter = families.map(({ id }) => OUTER.includes(id));
  for (let i = 0; i < work.length; i++) {
    const run = runOfWork?.[i] ?? NONE;
    if (run === NONE) continue;
    const hidden = family[i] === HIDDEN;
    const inner = hidden || isInner[family[i]];
    const outer = hidden || isOuter[family[i]];
    if (inner || outer) start[run] = Math.min(start[run], work.start[i]);
    if (inner) {
      innerEnd[run] = Math.max(innerEnd[run], work.end[i]);
      lastInner[run] = next[run];
    }
    if (outer) outerEnd[run] = Math.max(outerEnd[run], work.end[i]);
    pieces[next[run]++] = i;
  }
  const end = innerEnd.map((ending, run) => {
    const last = lastInner[run];
    if (last === NONE) return outerEnd[run];
    const rest = restOfLayer(at => nameOf(pieces[at]), first[run], last, first[run + 1]);
    return pieces
      .subarray(last + 1, last + 1 + rest)
      .reduce((latest, i) => Math.max(latest, work.end[i]), ending);
  });
  return { start, end };
}

/** Room for the pieces of each run, one run after the other. */
function piecesByRun(count: number, runOfWork: Int32Array | undefined) {
  const first = new Int32Array(count + 1);
  const length = runOfWork?.length ?? 0;
  for (let i = 0; i < length; i++) if (runOfWork![i] !== NONE) first[runOfWork![i] + 1]++;
  for (let run = 0; run < count; run++) first[run + 1] += first[run];
  return { first, pieces: new Int32Array(first[count]) };
}

/** How many pieces behind the last attention repeat those behind the one before it; of the pieces of a run. */
function restOfLayer(nameAt: (at: number) => number, first: number, last: number, end: number): number {
  let before = last - 1;
  while (before >= first && nameAt(before) !== nameAt(last)) before--;
  if (before < first) return 0;
  let same = 0;
  while (
    before + 1 + same < last &&
    last + 1 + same < end &&
    nameAt(last + 1 + same) === nameAt(before + 1 + same)
  )
    same++;
  return same;
}
