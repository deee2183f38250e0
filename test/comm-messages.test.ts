/** What ranks send and how fast, groups by name, and waiting in what compare and check say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { collectiveWaits } from '../src/analyze/comm/collective-waits.js';
import { collectives } from '../src/analyze/comm/collectives.js';
import { roleOfGroup } from '../src/analyze/comm/group-role.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { findings } from '../src/analyze/findings/findings.js';
import { NONE } from '../src/base/column.js';
import {
  collectiveKind,
  isSymmetric,
  messageBytes,
  messageText,
  parseMessage,
} from '../src/catalog/messages.js';
import { compareConfigurations } from '../src/compare/compare-configurations.js';
import { openProfile } from '../src/import/open.js';
import { withProcessRanks } from '../src/import/process-ranks.js';
import { ProfileBuilder } from '../src/model/builder.js';
import { mergeProfiles } from '../src/model/merge.js';
import { RangeKind } from '../src/model/schema.js';
import { comparedRun } from '../src/run/collect.js';
import { runFigures } from '../src/run/collect-figures.js';
import { drawnCapture } from '../src/testing/drawn-capture.js';
import { drawRanks } from '../src/testing/drawn-ranks.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';

test('kinds of collectives by the names of kernels', () => {
  const kinds = [
    ['ncclDevKernel_AllReduce_Sum_bf16_RING_LL', 'all-reduce'],
    ['ncclKernel_AllGather_RING_LL_Sum_int8_t', 'all-gather'],
    ['ncclDevKernel_ReduceScatter_Sum_f32_RING_SIMPLE', 'reduce-scatter'],
    ['ncclDevKernel_SendRecv', 'send-receive'],
    ['ncclDevKernel_Broadcast_RING_LL', 'broadcast'],
    ['ncclDevKernel_Generic_4', 'other'],
    ['vllm::cross_device_reduce_1stage', 'all-reduce'],
    ['flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport', 'all-reduce'],
    ['multimem_one_shot_all_reduce_kernel', 'all-reduce'],
    ['deep_ep::internode_ll::dispatch', 'dispatch'],
    ['deep_ep::intranode::combine', 'combine'],
    ['tensorrt_llm::kernels::moe_comm::moeAllToAllKernel', 'all-to-all'],
    ['moeA2ADispatchKernel', 'dispatch'],
    ['all_to_allv', 'all-to-all'],
    ['_allgather_base', 'all-gather'],
    ['gloo:all_reduce', 'all-reduce'],
  ] as const;
  for (const [name, kind] of kinds) assert.equal(collectiveKind(name), kind, name);
  assert.ok(!isSymmetric('send-receive') && !isSymmetric('broadcast') && isSymmetric('dispatch'));
});

test('bytes on the bus as nccl-tests counts them', () => {
  const message = { collective: '', group: '' };
  assert.deepEqual(messageBytes('all-reduce', { ...message, bytes: 2000 }, 8), {
    bytes: 2000,
    busBytes: 3500,
  });
  assert.deepEqual(messageBytes('all-gather', { ...message, partBytes: 2000 }, 8), {
    bytes: 16_000,
    busBytes: 14_000,
  });
  assert.equal(messageBytes('all-reduce', message, 8), undefined);
  assert.equal(messageBytes('dispatch', { ...message, bytes: 2000 }, 8), undefined);
  const kineto = {
    collective: 'allreduce',
    inElements: 8,
    outElements: 4,
    groupSize: 2,
    group: '0',
    ranks: '[0, 1]',
  };
  assert.equal(parseMessage(messageText({ ...kineto, elementType: 'BFloat16' }))!.bytes, 16);
  assert.equal(parseMessage(messageText({ ...kineto, elementType: 'Unknown' }))!.bytes, undefined);
  assert.equal(parseMessage('{'), undefined);
});

/** Two processes of one report, with the ranges that NCCL writes: the id has more digits than a double holds. */
function report(joins: boolean) {
  const builder = new ProfileBuilder();
  const rows: { start: number; end: number; process: number; name: string; payload?: string }[] = [];
  const id = '12715772615376301750';
  const payload = (more: string) => `{"NCCL communicator ID": ${id}, ${more}}`;
  for (const process of [0, 1]) {
    if (joins)
      rows.push({
        start: 10,
        end: 20,
        process,
        name: 'ncclCommInitRank',
        payload: payload(`"No. of ranks": 4, "Rank": ${2 + process}`),
      });
    for (let i = 0; i < 12; i++) {
      const at = 1e6 + 1e5 * i;
      rows.push({
        start: at,
        end: at + 5_000,
        process,
        name: 'ncclAllGather',
        payload: payload('"Message size [bytes]": 1000000'),
      });
    }
  }
  const thread = (process: number) => builder.thread(builder.process('', 100 + process), 1);
  const stream = (process: number) =>
    builder.stream(builder.process('', 100 + process), builder.gpu('', process), 1, 7);
  const text = (value: string | undefined) => (value === undefined ? NONE : builder.strings.intern(value));
  builder.addTable(
    'ranges',
    {
      start: Float64Array.from(rows, row => row.start),
      end: Float64Array.from(rows, row => row.end),
      thread: Int32Array.from(rows, row => thread(row.process)),
      name: Int32Array.from(rows, row => text(row.name)),
      kind: Uint8Array.from(rows, () => RangeKind.pushPop),
      domain: Int32Array.from(rows, () => text('NCCL')),
      payloadText: Int32Array.from(rows, row => text(row.payload)),
    },
    rows.length,
  );
  const calls = rows.filter(({ name }) => name === 'ncclAllGather');
  builder.addTable(
    'apiCalls',
    {
      start: Float64Array.from(calls, row => row.start + 1_000),
      end: Float64Array.from(calls, row => row.start + 3_000),
      thread: Int32Array.from(calls, row => thread(row.process)),
      name: Int32Array.from(calls, () => text('cudaLaunchKernelExC_v11060')),
      correlation: Uint32Array.from(calls, (_, i) => i + 1),
    },
    calls.length,
  );
  builder.addTable(
    'kernels',
    {
      start: Float64Array.from(calls, row => row.start + 8_000 + 2_000 * row.process),
      end: Float64Array.from(calls, row => row.start + 60_000),
      stream: Int32Array.from(calls, row => stream(row.process)),
      correlation: Uint32Array.from(calls, (_, i) => i + 1),
      launch: Int32Array.from(calls, () => NONE),
      name: Int32Array.from(calls, () =>
        text('ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),
      ),
    },
    calls.length,
  );
  return new Analyzer(withProcessRanks(builder.build(drawnCapture('report.sqlite'))));
}

test('NCCL’s own ranges give communicator and size, and its size where ranks joined', () => {
  const [row] = report(true).get(collectives).rows;
  // One rank's part of 1 MB, of four ranks; two of them were recorded.
  assert.deepEqual(
    [row.kind, row.group, row.ranks, row.bytes, row.waitingNs, row.transferringNs],
    ['all-gather', '12715772615376301750', 2, 4e6, 1_000, 50_000],
  );
  assert.ok(Math.abs(row.busBytesPerSecond! - 3e6 / 50e-6) < 1);
  // Under which number they joined, not that of their GPU.
  const ranksOf = (analyzer: Analyzer) => analyzer.get(rankSkew).rows.map(({ rank }) => rank);
  assert.deepEqual(ranksOf(report(true)), [2, 3]);
  assert.deepEqual(ranksOf(report(false)), [0, 1]);
  // How many ranks there are is not known: neither is the whole message.
  const [unknown] = report(false).get(collectives).rows;
  assert.deepEqual(
    [unknown.group, unknown.bytes, unknown.busBytesPerSecond],
    ['12715772615376301750', null, null],
  );
});

/** From 2001 on the clock of a trace is that of the wall. */
const AT = 1.7e15;
const ELEMENTS = 1 << 22;

/** Two ranks in group `tp`: all-reduces of 8 MB that transfer for 100 µs; rank 1 arrives 30 µs late. */
function rank(number: number): string {
  const trace = new DrawnTrace(100 + number, number);
  for (let i = 0; i < 24; i++) {
    const at = AT + 400 * i;
    const late = number === 1 ? 30 : 0;
    trace.kernel('nvjet_tst', at, at + 10, at + 60 + late);
    trace.kernel('ncclDevKernel_AllReduce_Sum_bf16_RING_LL', at + 5, at + 60 + late, at + 190);
  }
  const message = {
    'Collective name': 'allreduce',
    'In msg nelems': ELEMENTS,
    'Out msg nelems': ELEMENTS,
    'Group size': 2,
    dtype: 'BFloat16',
    'Process Group Name': '3',
    'Process Group Ranks': '[0, 1]',
  };
  const events = trace.all().map(event => {
    const { name, args, cat } = event as { name: string; args: object; cat: string };
    return cat === 'kernel' && name.startsWith('nccl') ? { ...event, args: { ...args, ...message } } : event;
  });
  const config = [{ pg_name: '3', pg_desc: 'tp:0', pg_size: 2, ranks: [0, 1] }];
  const info = { backend: 'nccl', rank: number, world_size: 2, pg_count: 1, pg_config: config };
  return traceText(events, { more: { distributedInfo: info } });
}

test('messages of a trace: size, bus bandwidth against the link, the group by its name', async () => {
  await withFiles([rank(0), rank(1)], async files => {
    const analyzer = new Analyzer(await openProfile(files));
    const { rows } = analyzer.get(collectives);
    assert.equal(rows.length, 1);
    const [row] = rows;
    assert.deepEqual(
      [row.kind, row.group, row.ranks, row.bytes, row.collectives, row.waitingNs, row.transferringNs],
      ['all-reduce', '3', 2, 2 * ELEMENTS, 24, 15_000, 100_000],
    );
    // 8 MB in 100 µs; H200: 450 GB/s in one direction.
    const rate = (2 * ELEMENTS) / 100e-6;
    assert.ok(Math.abs(row.busBytesPerSecond! - rate) < 1);
    assert.ok(Math.abs(row.ofLink! - rate / 450e9) < 1e-9);
    const [group] = analyzer.get(rankSkew).summary!.groups as unknown as {
      role: string;
      roleInferred: boolean;
    }[];
    assert.deepEqual([group.role, group.roleInferred], ['tensor', false]);
  });
});

test('roles of groups: named, inferred, or not known', () => {
  const all = new Set(['all-reduce'] as const);
  assert.deepEqual(roleOfGroup('', [0, 1, 2, 3], all, []), { role: 'tensor', inferred: true });
  assert.deepEqual(roleOfGroup('', [0, 4, 8], all, []), { role: 'data', inferred: true });
  assert.deepEqual(roleOfGroup('', [0, 1], new Set(['dispatch', 'combine'] as const), []), {
    role: 'expert',
    inferred: true,
  });
  assert.deepEqual(roleOfGroup('moe_ep_group', [0, 1], all, []), { role: 'expert', inferred: false });
  assert.equal(roleOfGroup('', [0, 1, 5], all, []), undefined);
  assert.equal(roleOfGroup('', [0, 1], new Set(['barrier'] as const), []), undefined);
});

const even = (extraNs: number) =>
  mergeProfiles(
    drawRanks({
      ...{ ranks: 4, steps: 12, layers: 6 },
      collectives: [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 10_000 }],
      compute: own => [[{ name: 'nvjet_tst', ns: 40_000 + (own === 3 ? extraNs : 0) }]],
    }).profiles,
  );

test('compare and check tell waiting from transferring', () => {
  const [slow, fast] = [even(20_000), even(0)].map(profile => new Analyzer(profile));
  const named = (name: string, analyzer: Analyzer) => ({ name, runs: [comparedRun(analyzer)] });
  const [phase] = compareConfigurations(named('slow', slow), named('fast', fast), { threshold: 0.01 }).phases;
  const term = (kind: string) => phase.terms.find(own => own.kind === kind)!;
  // Three of four ranks wait 20 µs in each of six layers, and all transfer as before.
  assert.deepEqual([term('waiting').fromNs, term('waiting').toNs], [90_000, 0]);
  assert.deepEqual([term('communication').fromNs, term('communication').toNs], [60_000, 60_000]);
  assert.equal(phase.changeNs, -120_000);
  const share = (analyzer: Analyzer, metric: string) =>
    Object.entries(analyzer.get(runFigures).figures.decode ?? {}).find(([name]) => name === metric)?.[1];
  assert.ok(share(slow, 'communication.waiting') !== undefined);
  assert.ok(share(slow, 'communication.transferring') !== undefined);
  const alone = new Analyzer(
    drawRanks({
      ...{ ranks: 1, steps: 12, layers: 6 },
      collectives: [{ name: 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL', ns: 10_000 }],
      compute: () => [[{ name: 'nvjet_tst', ns: 40_000 }]],
    }).profiles[0],
  );
  assert.equal(share(alone, 'communication.waiting'), undefined);
  // Of one side the ranks are not known: then communication is one term on both.
  const [mixed] = compareConfigurations(named('slow', slow), named('alone', alone), {
    threshold: 0.01,
  }).phases;
  assert.deepEqual(
    mixed.terms.flatMap(own =>
      own.kind === 'communication' || own.kind === 'waiting' ? [[own.kind, own.fromNs]] : [],
    ),
    [['communication', 150_000]],
  );
});

const MESSAGES = 20;
const PERIOD = 1_000;

/**
 * Two stages of a pipeline. Stage 0 computes and sends at 300 µs; stage 1 is there from 100 µs on and computes when the
 * message has come, 20 µs later. Every fifth message lies ready: stage 1 comes for it 50 µs after the send has ended.
 */
function stage(number: 0 | 1, from = 0): string {
  const trace = new DrawnTrace(100 + number, number);
  for (let i = from; i < MESSAGES; i++) {
    const at = AT + PERIOD * i;
    const lies = i % 5 === 4;
    trace.range('execute_model', at, at + PERIOD - 10);
    if (number === 0) {
      trace.kernel('nvjet_tst', at, at + 5, at + 300);
      trace.kernel('ncclDevKernel_SendRecv', at + 2, at + 300, at + 310);
    } else {
      const asked = lies ? 360 : 100;
      trace.kernel('ncclDevKernel_SendRecv', at + asked - 5, at + asked, at + (lies ? 365 : 320));
      trace.kernel('nvjet_tst', at + asked, at + 370, at + 700);
    }
  }
  const message = {
    'Collective name': number === 0 ? 'send' : 'recv',
    ...{ 'In msg nelems': 1 << 18, 'Out msg nelems': 1 << 18, dtype: 'BFloat16' },
    ...{ 'Group size': 2, 'Process Group Name': '5', 'Process Group Ranks': '[0, 1]' },
    ...(number === 0 ? { 'Dst Rank': 1 } : { 'Src Rank': 0 }),
  };
  const events = trace.all().map(event => {
    const { name, args, cat } = event as { name: string; args: object; cat: string };
    return cat === 'kernel' && name.startsWith('nccl') ? { ...event, args: { ...args, ...message } } : event;
  });
  const config = [{ pg_name: '5', pg_desc: 'pp', pg_size: 2, ranks: [0, 1] }];
  const info = { backend: 'nccl', rank: number, world_size: 2, pg_count: 1, pg_config: config };
  return traceText(events, { more: { distributedInfo: info } });
}

test('a receive waits for its send; a message that lies ready keeps nobody waiting', async () => {
  for (const from of [0, 3])
    await withFiles([stage(0), stage(1, from)], async files => {
      const analyzer = new Analyzer(await openProfile(files));
      const { rows, summary } = analyzer.get(collectives);
      const count = MESSAGES - from;
      const lying = 4;
      const [row] = rows;
      assert.deepEqual(
        [row.kind, row.group, row.ranks, row.collectives, row.bytes, summary!.oneSidedCalls],
        ['send-receive', '5 0→1', 2, count, 1 << 19, 0],
      );
      // 200 µs for each that does not lie ready, over both sides.
      assert.equal(row.waitingNs, ((count - lying) * 200_000) / (2 * count));
      assert.equal(row.durationNs, row.waitingNs! + row.transferringNs!);
      const waits = analyzer.get(collectiveWaits)!;
      assert.equal(waits.collectives.length, 0);
      const senders = waits.transfers.map(({ calls: [send] }) => waits.waitingNs[send]);
      assert.deepEqual(new Set(senders), new Set([0]));
      const found = analyzer.get(findings).rows.map(({ rule, claim }) => [rule, claim]);
      const bubble = found.find(([id]) => id === 'pipeline-waiting');
      assert.match(String(bubble?.[1]), /rank 1 waits longest, for rank 0/);
      assert.ok(!found.some(([id]) => id === 'waiting-for-slowest-rank'));
    });
});
