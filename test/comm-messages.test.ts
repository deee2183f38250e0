/** What ranks send and how fast, groups by name, and waiting in what compare and check say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { collectives } from '../src/analyze/comm/collectives.js';
import { roleOfGroup } from '../src/analyze/comm/group-role.js';
import { rankSkew } from '../src/analyze/comm/rank-skew.js';
import { collectiveKind, isSymmetric, messageBytes } from '../src/catalog/messages.js';
import { compareConfigurations } from '../src/compare/compare-configurations.js';
import { openProfile } from '../src/import/open.js';
import { mergeProfiles } from '../src/model/merge.js';
import { comparedRun } from '../src/run/collect.js';
import { runFigures } from '../src/run/collect-figures.js';
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
  const message = {
    collective: '',
    inElements: 1000,
    outElements: 1000,
    elementType: 'BFloat16',
    groupSize: 8,
    group: '',
  };
  assert.deepEqual(messageBytes('all-reduce', message), { bytes: 2000, busBytes: 3500 });
  assert.deepEqual(messageBytes('all-gather', { ...message, outElements: 8000 }), {
    bytes: 16_000,
    busBytes: 14_000,
  });
  assert.equal(messageBytes('all-reduce', { ...message, elementType: 'Unknown' }), undefined);
  assert.equal(messageBytes('dispatch', message), undefined);
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
