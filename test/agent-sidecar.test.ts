/** The agent's own record of steps: alone, beside a capture without markers, and where it does not fit. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Analyzer, NotRecorded } from '../src/analyze/analysis.js';
import { gc } from '../src/analyze/host/gc.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { layers } from '../src/analyze/inference/layers.js';
import { stepBudget } from '../src/analyze/inference/step-budget.js';
import { summarizeCapture } from '../src/analyze/info.js';
import { joinSidecars } from '../src/import/agent-sidecar/join-sidecars.js';
import { openProfile } from '../src/import/open.js';
import { distinctGpus } from '../src/model/distinct-gpus.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-sidecar-'));
after(() => rmSync(folder, { recursive: true }));

const stepsOf = (profile: Profile) => new Analyzer(profile, {}).get(iterations).rows;

/** A sidecar as the agent would have written it beside this capture: what its markers say, on the agent's own clock. */
async function sidecarOf(capture: Profile, changes: Record<string, unknown> = {}): Promise<Profile> {
  const earlierNs = 5_000_000_000n;
  const { pid } = capture.processes[capture.threads[0].process];
  const rows = stepsOf(capture).map(row => ({
    iteration: row.iteration,
    startNs: row.runs[0].startNs + Number(earlierNs),
    durationNs: row.runs[0].endNs - row.runs[0].startNs,
    thread: capture.threads[0].tid,
    contextRequests: row.contextRequests ?? 0,
    contextTokens: row.contextTokens ?? 0,
    generationRequests: row.generationRequests ?? 0,
    generationTokens: row.generationRequests ?? 0,
  }));
  const far = { ...rows[0], iteration: 1, startNs: 1000, durationNs: 1000 };
  const document = {
    stepscopeAgent: 1,
    originNs: String(capture.originNs - earlierNs),
    pid,
    rank: 0,
    worldSize: 1,
    versions: { torch: '2.11.0', python: '3.12.1' },
    iterations: [far, ...rows],
    gcPauses: [],
    ...changes,
  };
  const file = path.join(folder, 'side.json');
  writeFileSync(file, JSON.stringify(document));
  return openProfile([file]);
}

function withoutMarkers(profile: Profile): Profile {
  const { ranges: _, ...tables } = profile.tables;
  return { ...profile, tables };
}

test('alone it shows its steps, and what it is', async () => {
  const profile = await openProfile([path.join(projectRoot, 'test/fixtures/agent/sidecar.json.gz')]);
  assert.deepEqual(
    stepsOf(profile).map(row => [row.iteration, row.phase, row.generationRequests]),
    [3, 4, 5, 6, 7, 8].map(number => [number, 'decode', 2]),
  );
  const info = summarizeCapture(profile);
  assert.match(info.profiler, /Stepscope agent/);
  assert.equal(info.markers[0].engine, 'stepscope agent');
  assert.equal(info.versions.torch, '1.13.0a0');
  assert.ok(info.startedUtc?.startsWith('20'));
});

test('beside a capture without markers it gives that its steps, to the same budgets', async () => {
  const marked = await openProfile([capturePath('eager')]);
  const bare = withoutMarkers(marked);
  const [joined] = joinSidecars([bare, await sidecarOf(marked)]);
  assert.deepEqual(validateProfile(joined), []);
  const facts = (profile: Profile) =>
    stepsOf(profile).map(row => [row.iteration, row.phase, row.generationRequests, row.kernels]);
  assert.deepEqual(facts(joined), facts(marked));
  assert.equal(
    new Analyzer(joined, {}).get(stepBudget).rows.length,
    new Analyzer(marked, {}).get(stepBudget).rows.length,
  );
  assert.equal(joined.capture.profiler, 'nsys');
  assert.equal(joined.capture.versions.torch, '2.11.0');
  assert.ok(
    joined.notes.some(({ code, text }) => code === 'agent-sidecar' && /provides the steps/.test(text)),
  );
});

test('a capture with markers of its own keeps them', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const [joined] = joinSidecars([await sidecarOf(marked), marked]);
  assert.equal(joined.tables.ranges, marked.tables.ranges);
  assert.deepEqual(joined.capture.files, ['profile.sqlite.gz', 'side.json']);
});

test('collections are told beside steps the capture marks itself, and none is not the same as not recorded', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const collections = (profile: Profile) => new Analyzer(profile, {}).get(gc).rows;
  assert.throws(() => collections(marked), NotRecorded);
  const [quiet] = joinSidecars([marked, await sidecarOf(marked)]);
  assert.deepEqual(collections(quiet), []);
  const [, second] = stepsOf(marked);
  const pause = { generation: 2, startNs: second.runs[0].startNs + 5e9 + 1000, durationNs: 7000, thread: 1 };
  const [paused] = joinSidecars([marked, await sidecarOf(marked, { gcPauses: [pause] })]);
  assert.deepEqual(
    collections(paused).map(row => [row.key, row.totalNs]),
    [['generation:2', 7000]],
  );
  assert.deepEqual(stepsOf(paused), stepsOf(marked));
  assert.ok(paused.notes.some(({ text }) => /provides the garbage collections/.test(text)));
  const own = await openProfile([capturePath('gc')]);
  const [kept] = joinSidecars([own, await sidecarOf(own, { gcPauses: [pause] })]);
  assert.equal(kept.tables.ranges, own.tables.ranges);
});

const part = (name: string, firstNode: number, endNode: number) => ({
  name,
  firstNode,
  endNode,
  firstKernel: firstNode,
  endKernel: endNode,
});

/** The graph of `graph`: 1,016 kernels, of which the first 46 are called layer 99 here. */
const graphs = (more: Record<string, unknown> = {}) => [
  {
    captured: 1,
    startNs: 0,
    durationNs: 5,
    thread: 1,
    nodes: 1016,
    kernels: 1016,
    isChain: true,
    parts: [part('model.layers.99', 0, 46), part('model.layers.99.mlp', 40, 46)],
    ...more,
  },
];

const layersOf = (profile: Profile) => {
  const { rows, summary } = new Analyzer(profile, {}).get(layers);
  const own = rows.filter(row => row.layer === 99 && row.phase === 'decode');
  return [summary!.methods as string[], own.map(row => [row.part, row.kernelsPerStep])] as const;
};

test('parts of captured graphs name the layers of replayed nodes, innermost first', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const [joined] = joinSidecars([marked, await sidecarOf(marked, { graphs: graphs() })]);
  assert.deepEqual(validateProfile(joined), []);
  const [methods, own] = layersOf(joined);
  assert.ok(methods.includes('graph-parts'), String(methods));
  assert.deepEqual(own, [
    ['', 40],
    ['mlp', 6],
  ]);
});

test('a PyTorch trace numbers no nodes: the order of a launch tells them, where the graph is a chain', async () => {
  const trace = await openProfile([capturePath('graph', 'kineto.json.gz')]);
  const told = async (changes: Record<string, unknown>) => {
    const sidecar = await sidecarOf(trace, { graphs: graphs(changes), worldSize: 1 });
    return layersOf(joinSidecars([trace, sidecar])[0]);
  };
  const [methods, own] = await told({});
  assert.ok(methods.includes('graph-parts'), String(methods));
  assert.deepEqual(own, [
    ['', 40],
    ['mlp', 6],
  ]);
  assert.deepEqual((await told({ isChain: false }))[1], []);
});

test('a graph of other size, or two that disagree, name nothing', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const told = async (found: unknown[]) =>
    layersOf(joinSidecars([marked, await sidecarOf(marked, { graphs: found })])[0])[1];
  assert.deepEqual(await told(graphs({ kernels: 1015 })), []);
  assert.deepEqual(await told([...graphs(), ...graphs({ parts: [part('model.layers.3', 0, 46)] })]), []);
  assert.equal((await told([...graphs(), ...graphs({ startNs: 9 })])).length, 2);
  // As many kernels, but not as many before the part.
  const shifted = [{ ...part('model.layers.99', 1, 47), firstKernel: 0, endKernel: 46 }];
  assert.deepEqual(await told(graphs({ nodes: 1017, parts: shifted })), []);
});

test('parts of graphs that cannot be are left out and counted', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const bad = [
    ...graphs({
      parts: [part('model.layers.99', 0, 9999), part('model.layers.99', 46, 40), { name: 5 }, null],
    }),
    ...graphs({ nodes: 1e12 }),
    ...graphs({ parts: 'none' }),
    ...graphs({ startNs: 'x' }),
    null,
  ];
  const sidecar = await sidecarOf(marked, { graphs: bad, graphsLeftOut: 3 });
  assert.equal(sidecar.tables.graphParts, undefined);
  assert.equal(sidecar.notes.find(({ code }) => code === 'agent-graphs')?.count, 6);
  assert.equal(sidecar.notes.find(({ code }) => code === 'agent-graphs-left-out')?.count, 3);
});

test('windows of one process are several captures, and each gets its layers', async () => {
  const marked = await openProfile([capturePath('graph')]);
  const joined = joinSidecars([marked, marked, await sidecarOf(marked, { graphs: graphs() })]);
  assert.deepEqual(
    joined.map(({ tables }) => tables.graphParts?.length),
    [2, 2],
  );
});

test('files about one GPU count it once, where they tell which it is', () => {
  const gpu = (uuid?: string) => ({ deviceId: 0, name: 'NVIDIA H200', host: '', ...(uuid ? { uuid } : {}) });
  assert.equal(distinctGpus([gpu('a'), gpu('b'), gpu('a'), gpu(), gpu()]).length, 4);
});

test('what does not fit is left out and said', async () => {
  const marked = await openProfile([capturePath('eager')]);
  const bare = withoutMarkers(marked);
  const said = (profile: Profile) => profile.notes.find(({ code }) => code === 'agent-sidecar')?.text;
  const late = await sidecarOf(marked, { originNs: String(marked.originNs + 10n ** 15n) });
  assert.match(said(joinSidecars([bare, late])[0])!, /outside the time range of the capture/);
  // Nothing of another run is taken over: not its versions, not its graphs, not that collections were watched.
  const graphLate = { originNs: String(marked.originNs + 10n ** 15n), graphs: graphs() };
  const [alone] = joinSidecars([bare, await sidecarOf(marked, graphLate)]);
  assert.deepEqual({ ...alone, notes: bare.notes }, bare);
  const blind: Profile = { ...bare, clock: 'session' };
  assert.match(said(joinSidecars([blind, await sidecarOf(marked)])[0])!, /wall-clock/);
  const two = [bare, bare];
  const foreign = await sidecarOf(marked, { pid: 99999999 });
  assert.match(said(joinSidecars([...two, foreign])[0])!, /does not belong to any captured process/);
});

test('a folder with a capture and a sidecar opens as one', async () => {
  const sidecar = path.join(projectRoot, 'test/fixtures/agent/sidecar.json.gz');
  const profile = await openProfile([capturePath('graph', 'kineto.json.gz'), sidecar]);
  assert.deepEqual(validateProfile(profile), []);
  assert.equal(profile.capture.profiler, 'kineto');
});

test('damage is refused in words', async () => {
  const file = path.join(folder, 'damaged.json');
  for (const text of [
    '{"stepscopeAgent":1,"iterations":[',
    '{"stepscopeAgent":2,"originNs":"1","iterations":[]}',
    '{"stepscopeAgent":1,"originNs":-1,"iterations":[]}',
    '{"stepscopeAgent":1,"originNs":"1","iterations":{}}',
  ]) {
    writeFileSync(file, text);
    await assert.rejects(openProfile([file]), { code: 'damaged' }, text);
  }
  writeFileSync(
    file,
    '{"stepscopeAgent":1,"originNs":"1","pid":1e300,"iterations":[null,{"startNs":"x"},{"startNs":5,"durationNs":2}]}',
  );
  const profile = await openProfile([file]);
  assert.deepEqual(validateProfile(profile), []);
  assert.equal(profile.tables.ranges!.length, 1);
  assert.equal(profile.notes[0].severity, 'loss');
});
