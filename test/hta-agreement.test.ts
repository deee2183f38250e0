/**
 * Our figures beside those of Holistic Trace Analysis (HTA) for the same files. Its figures were taken once and are in
 * fixtures/hta. Where its definitions are not ours, they are rebuilt here from our columns: if that gives HTA's figure,
 * the definition is the whole difference.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { gpuUtilization } from '../src/analyze/gpu/gpu-utilization.js';
import { type GpuWork, gpuWork, WorkKind } from '../src/analyze/gpu/gpu-work.js';
import { familyIndex, workFamilies } from '../src/analyze/gpu/work-families.js';
import { NONE } from '../src/base/column.js';
import { IntervalBuilder, type Intervals, totalLength } from '../src/base/intervals.js';
import { openProfile } from '../src/import/open.js';
import type { Profile, Row } from '../src/model/profile.js';
import { tableNamed } from '../src/model/rows.js';
import { externalFolder, projectRoot, readText } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

interface Figures {
  readonly idle: number;
  readonly compute: number;
  readonly nonCompute: number;
  readonly span: number;
  /** By kind of kernel and by kinds that overlap: `COMPUTATION overlapping MEMORY`. */
  readonly kinds: Readonly<Record<string, number>>;
  /** Idle time by HTA's reason, per CUDA stream. */
  readonly streams: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const { traces } = JSON.parse(
  readFileSync(path.join(projectRoot, 'test/fixtures/hta/figures.json'), 'utf8'),
) as { traces: Record<string, Figures> };

const COMPUTATION = 1;
const COMMUNICATION = 2;
const MEMORY = 4;
const OTHER = 8;
const kindNames = [
  ['COMPUTATION', COMPUTATION],
  ['COMMUNICATION', COMMUNICATION],
  ['MEMORY', MEMORY],
] as const;

/** hta/utils/utils.py: get_kernel_type. */
function htaKind(name: string): number {
  if (/^nccl.*Kernel/.test(name)) return COMMUNICATION;
  if (/^(Memcpy|Memset|dma)/.test(name)) return MEMORY;
  return /^(nccl.*Kernel|.*Memcpy|Memset|.*Sync)/.test(name) ? OTHER : COMPUTATION;
}

/** A piece of work as HTA sees it: whole microseconds, the part inside them. */
interface Piece {
  readonly ts: number;
  readonly end: number;
  readonly kind: number;
  readonly streamId: number;
  /** When the call that launched it began. NaN: not known. */
  readonly launched: number;
  readonly correlation: number;
  /** Index into gpuWork, or NONE for what we do not count as work. */
  readonly work: number;
}

/** HTA's microseconds: the file's own numbers, as doubles, a start rounded up and an end rounded down. */
class HtaClock {
  private readonly zero: bigint;
  constructor(profile: Profile, text: string) {
    const base = /"baseTimeNanoseconds":\s*(\d+)/.exec(text)?.[1] ?? '0';
    this.zero = profile.originNs - BigInt(base);
  }
  micros(ns: number): number {
    const exact = this.zero + BigInt(ns);
    return Number(`${exact / 1000n}.${String(exact % 1000n).padStart(3, '0')}`);
  }
  start(ns: number): number {
    return Math.ceil(this.micros(ns));
  }
  end(start: number, end: number): number {
    return Math.floor(this.micros(start) + (end - start) / 1000);
  }
}

interface RawEvent {
  readonly ts?: number;
  readonly dur?: number;
  readonly cat?: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** What HTA takes for GPU work: every event that names a stream. */
function htaPieces(analyzer: Analyzer, text: string): { pieces: Piece[]; clock: HtaClock } {
  const { profile } = analyzer;
  const clock = new HtaClock(profile, text);
  const work = analyzer.get(gpuWork);
  const calls = profile.tables.apiCalls;
  const tables = (['kernels', 'copies', 'memsets'] as const).map(name => tableNamed(profile, name));
  const { traceEvents } = JSON.parse(text) as { traceEvents: RawEvent[] };
  // What has no launch is joined with event 0 of the file; the join finds nothing where that is no stretch of time.
  const [first] = traceEvents;
  const unlinked = first.dur === undefined ? Number.NaN : Math.ceil(first.ts!);
  const pieces: Piece[] = [];
  for (let i = 0; i < work.length; i++) {
    const kind = work.kind[i];
    const launch = work.launch[i];
    pieces.push({
      ts: clock.start(work.start[i]),
      end: clock.end(work.start[i], work.end[i]),
      kind: kind === WorkKind.kernel ? htaKind(kernelName(profile, work.row[i])) : MEMORY,
      streamId: profile.streams[work.stream[i]].streamId,
      launched: launch === NONE || !calls ? unlinked : clock.start(calls.start[launch]),
      correlation: tables[kind]!.correlation[work.row[i]],
      work: i,
    });
  }
  // Waits of streams and host ops that name a stream are no work; HTA counts them into span, busy and idle time.
  for (const { ts, dur, cat, name, args } of traceEvents) {
    if (
      (cat !== 'cuda_sync' && cat !== 'cpu_op') ||
      dur === undefined ||
      !Number.isInteger(Number(args?.stream))
    )
      continue;
    if (Number(args!.stream) < 0) continue;
    pieces.push({
      ts: Math.ceil(ts!),
      end: Math.floor(ts! + dur),
      kind: htaKind(name!),
      streamId: NONE,
      launched: Number.NaN,
      correlation: Number(args!.correlation ?? -1),
      work: NONE,
    });
  }
  return { pieces: withoutLastStep(profile, clock, pieces), clock };
}

const kernelName = (profile: Profile, row: Row<'kernels'>) =>
  profile.strings.text(profile.tables.kernels!.name[row]);

/** hta/common/trace.py: of two or more profiler steps, what was launched in the last one is left out. */
function withoutLastStep(profile: Profile, clock: HtaClock, pieces: Piece[]): Piece[] {
  const names = new Set<number>();
  let last = -Infinity;
  // Traces before 2022 have the steps among the ops. On the GPU they are drawn again, later; HTA takes the latest.
  for (const name of ['ranges', 'ops'] as const) {
    const table = tableNamed(profile, name);
    for (let row = 0 as Row<'ranges' | 'ops'>; row < (table?.length ?? 0); row++) {
      if (!profile.strings.text(table!.name[row]).includes('ProfilerStep')) continue;
      names.add(table!.name[row]);
      last = Math.max(last, clock.start(table!.start[row]));
    }
  }
  if (names.size < 2) return pieces;
  const calls = profile.tables.apiCalls!;
  const kept = new Set<number>();
  for (let row = 0 as Row<'apiCalls'>; row < calls.length; row++)
    if (clock.start(calls.start[row]) < last) kept.add(calls.correlation[row]);
  return pieces.filter(({ correlation }) => kept.has(correlation));
}

/** hta/utils/utils.py: merge_kernel_intervals. Stretches that end before they begin, from rounding, count as such. */
function merged(pieces: readonly Piece[]): { ts: number; end: number }[] {
  const groups: { ts: number; end: number }[] = [];
  let reach = Number.NaN;
  for (const { ts, end } of [...pieces].sort((a, b) => a.ts - b.ts)) {
    const group = groups[groups.length - 1];
    if (group && !(ts > reach)) group.end = Math.max(group.end, end);
    else groups.push({ ts, end });
    reach = Number.isNaN(reach) ? end : Math.max(reach, end);
  }
  return groups;
}

const lengthOf = (groups: readonly { ts: number; end: number }[]) =>
  groups.reduce((sum, { ts, end }) => sum + end - ts, 0);

/** HTA's three breakdowns, from our columns. */
function rebuild(pieces: readonly Piece[]): Figures {
  const all = merged(pieces);
  const span = all[all.length - 1].end - all[0].ts;
  const idle = span - lengthOf(all);
  const ofKind = (kind: number) => merged(pieces.filter(piece => piece.kind === kind));
  const compute = lengthOf(ofKind(COMPUTATION));
  return {
    idle,
    compute,
    nonCompute: span - compute - idle,
    span,
    kinds: kindsWithOverlap(ofKind),
    streams: idlePerStream(pieces),
  };
}

function kindsWithOverlap(ofKind: (kind: number) => { ts: number; end: number }[]): Record<string, number> {
  const moments = kindNames
    .flatMap(([, kind]) =>
      ofKind(kind).flatMap(({ ts, end }) => [[ts, kind] as const, [end, -kind] as const]),
    )
    .sort((a, b) => a[0] - b[0]);
  const result: Record<string, number> = {};
  let running = 0;
  moments.forEach(([moment, change], i) => {
    running += change;
    if (running <= 0 || i + 1 === moments.length) return;
    const key = kindNames.flatMap(([name, kind]) => (running & kind ? [name] : [])).join(' overlapping ');
    result[key] = (result[key] ?? 0) + moments[i + 1][0] - moment;
  });
  return result;
}

/** hta/analyzers/breakdown_analysis.py: _analyze_idle_time_for_stream. Overlap counts as negative idle time. */
function idlePerStream(pieces: readonly Piece[]): Record<string, Record<string, number>> {
  const result: Record<string, Record<string, number>> = {};
  for (const stream of new Set(pieces.map(({ streamId }) => streamId))) {
    if (stream === NONE) continue;
    const own = pieces.filter(({ streamId }) => streamId === stream).sort((a, b) => a.ts - b.ts);
    // The first piece has no gap before it; it makes the category `other` appear.
    const idle: Record<string, number> = { other: 0 };
    for (let i = 1; i < own.length; i++) {
      const gap = own[i].ts - own[i - 1].end;
      const reason = own[i].launched > own[i - 1].end ? 'host_wait' : gap < 30 ? 'kernel_wait' : 'other';
      idle[reason] = (idle[reason] ?? 0) + gap;
    }
    result[stream] = idle;
  }
  return result;
}

const decode = 'sglang-gptoss120b-b200-tp8/bs-1-il-4096-1780800270.547418-TP-0-DECODE.trace.json.gz';
const largeDecode = 'sglang-gptoss120b-b200-tp8/bs-64-il-4096-1780800287.885589-TP-0-DECODE.trace.json.gz';
const eagle = 'sglang-gptoss120b-eagle3/bs-1-il-4096-1780800503.2446792-TP-0-DECODE.trace.json.gz';

/**
 * Files of which HTA counts other pieces than we do. `leftOut`: launched in the last profiler step. `noWork`: waits of a
 * stream, and host ops that carry the stream they launch on.
 */
const otherPieces: Readonly<Record<string, { leftOut: number; noWork: number }>> = {
  'hta/critical_path_simple_add_benchmark_result_493459_1694039959_trace.json.gz': { leftOut: 0, noWork: 41 },
  'hta/nccl_parser_config_nccl_data.json.gz': { leftOut: 1258, noWork: 0 },
  'hta/ns_resolution_trace_rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz': { leftOut: 1219, noWork: 0 },
  'hta/timeline_analysis_sampled_rank-0.json.gz': { leftOut: 602, noWork: 0 },
  'hta/triton_example_triton_example.json.gz': { leftOut: 0, noWork: 1 },
  'kineto/legacy-2021-resnet50.pt.trace.json.gz': { leftOut: 1516, noWork: 0 },
  [eagle]: { leftOut: 0, noWork: 20 },
};

/** Kernels we give to communication or copies and HTA to computation: it knows names that begin with nccl or Mem. */
const unknownToHta: Readonly<Record<string, readonly string[]>> = {
  [decode]: ['all_reduce_one_shot_push_kernel', 'allreduce_fusion_kernel_oneshot_lamport'],
  [largeDecode]: ['all_reduce_one_shot_push_kernel', 'allreduce_fusion_kernel_oneshot_lamport'],
  [eagle]: ['all_reduce_one_shot_push_kernel', 'allreduce_fusion_kernel_oneshot_lamport', 'memcpy32_post'],
  'lightllm-deepseek-h200-tp8/rank0.pt.trace.json.gz': ['combine', 'dispatch'],
};

const open = async (name: string) => {
  const file = path.join(externalFolder, name);
  const analyzer = new Analyzer(await openProfile([file]), { whole: true });
  const { pieces } = htaPieces(analyzer, readText(file));
  return { analyzer, pieces, work: analyzer.get(gpuWork), theirs: traces[name] };
};

for (const name of Object.keys(traces)) {
  const skip = lacks('external');

  test(`HTA's definitions over our columns give HTA's figures: ${name}`, { skip }, async () => {
    const { pieces, theirs } = await open(name);
    assert.deepEqual(rebuild(pieces), theirs);
  });

  test(`our figures are HTA's but for what it rounds away: ${name}`, { skip }, async () => {
    const { analyzer, pieces, work, theirs } = await open(name);
    const counted = pieces.filter(piece => piece.work !== NONE);
    const different = { leftOut: work.length - counted.length, noWork: pieces.length - counted.length };
    assert.deepEqual(different, otherPieces[name] ?? { leftOut: 0, noWork: 0 });
    // Time that is no work is in HTA's unions with all else; the test above shows that there is no other reason.
    if (different.noWork > 0) return;

    const exact = exactUnion(work, pieces);
    const busyNs = totalLength(exact);
    const spanNs = exact.end[exact.length - 1] - exact.start[0];
    if (different.leftOut === 0) {
      // What is compared with HTA's is what we report, to the nanosecond.
      const [row, ...others] = analyzer.get(gpuUtilization).rows;
      assert.equal(others.length, 0, 'HTA takes all devices of a file for one');
      assert.equal(row.busyNs, busyNs);
      // Our window begins where the host begins the first step, HTA's with the first kernel.
      assert.ok(row.windowNs >= spanNs);
      assert.equal(row.idleNs, row.windowNs - busyNs);
    }
    const lost = lostToRounding(work, pieces);
    longer(spanNs, theirs.span, 2 * MICROSECOND, 'span');
    longer(busyNs, theirs.span - theirs.idle, lost, 'busy');
    // What busy time loses, idle time gains.
    longer(spanNs - busyNs + lost, theirs.idle, lost + 2 * MICROSECOND, 'idle');
    for (const [kindName, kind] of kindNames) {
      const own = pieces.filter(piece => piece.kind === kind);
      const sum = Object.entries(theirs.kinds)
        .filter(([kinds]) => kinds.split(' overlapping ').includes(kindName))
        .reduce((total, [, us]) => total + us, 0);
      // Pieces inside one microsecond end before they begin, and carry that microsecond to kinds beside them.
      const slack = 2 * MICROSECOND * pieces.filter(({ ts, end }) => end < ts).length;
      longer(
        totalLength(exactUnion(work, own)) + slack,
        sum,
        lostToRounding(work, own) + 2 * slack,
        kindName,
      );
    }
  });

  test(`kinds are HTA's but for names it does not know: ${name}`, { skip }, async () => {
    const { analyzer, pieces, work } = await open(name);
    const { family } = analyzer.get(workFamilies);
    const different = new Set<string>();
    for (const { kind, work: i } of pieces) {
      if (i === NONE || ourKind(family[i]) === kind) continue;
      // HTA's communication and memory are always ours as well.
      assert.equal(kind, COMPUTATION);
      const id = analyzer.profile.tables.kernels!.shortName![work.row[i]];
      different.add(analyzer.profile.strings.text(id));
    }
    assert.deepEqual([...different].sort(), unknownToHta[name] ?? []);
  });
}

const MICROSECOND = 1000;

function exactUnion(work: GpuWork, pieces: readonly Piece[]): Intervals {
  const builder = new IntervalBuilder();
  for (const { work: i } of pieces) builder.add(work.start[i], work.end[i]);
  return builder.finish();
}

/** What of the pieces lies outside their whole microseconds. A union of them loses no more than that. */
function lostToRounding(work: GpuWork, pieces: readonly Piece[]): number {
  return pieces.reduce(
    (sum, { work: i, ts, end }) => sum + work.end[i] - work.start[i] - (end - ts) * 1000,
    0,
  );
}

function ourKind(family: number): number {
  if (family === familyIndex('communication')) return COMMUNICATION;
  return family === familyIndex('copy') || family === familyIndex('memset') ? MEMORY : COMPUTATION;
}

/** Ours is HTA's or longer, by no more than `most` nanoseconds. */
function longer(ns: number, us: number, most: number, what: string): void {
  const by = ns - us * 1000;
  assert.ok(by >= 0 && by <= most, `${what}: ${ns} ns against ${us} us, allowed to be ${most} ns longer`);
}
