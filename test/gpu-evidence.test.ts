/**
 * What was captured on a real GPU with the agent (agent/gpu): the steps asked for, what each was, the layers of every
 * kernel, what the agent costs, what the perfect router changes. Programs wrote down themselves what they did.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { gpuWork, WorkKind } from '../src/analyze/gpu/gpu-work.js';
import { iterations } from '../src/analyze/inference/iterations.js';
import { layerOfWork } from '../src/analyze/inference/layer-of-work.js';
import { layers } from '../src/analyze/inference/layers.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { openProfile } from '../src/import/open.js';
import type { Profile } from '../src/model/profile.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { runStepscope } from './run-stepscope.js';

const evidence = (name: string) => readFileSync(path.join(projectRoot, 'docs/evidence', name), 'utf8');

type Step = readonly [phase: string, requests: number, tokens: number];
interface Measured {
  readonly withoutUs: number;
  readonly overheadPercent: number;
}
interface Run {
  readonly name: string;
  readonly stepsAsTheyWere?: boolean;
  readonly nsys?: { readonly gateKernels: Readonly<Record<string, number>> };
  readonly experts?: { readonly largestDifference: number; readonly tokensTimesTopK: readonly number[] };
  readonly result: {
    readonly truth: readonly Step[];
    readonly oneByOne: Measured;
    readonly runs: Measured;
  };
}

const { runs } = JSON.parse(evidence('agent/results.json')) as { readonly runs: readonly Run[] };
const runNamed = (name: string) => runs.find(run => run.name === name)!;

const models = [
  ['llama', 8],
  ['gpt-oss', 4],
  ['deepseek-v3', 4],
] as const;
const profilers = [
  ['nsys', 'profile.sqlite.gz', 'profile.agent.json'],
  ['torch', 'kineto.json.gz', 'kineto.agent.json'],
] as const;

const stepOf = (row: {
  readonly phase: string;
  readonly contextRequests: number | null;
  readonly contextTokens: number | null;
  readonly generationRequests: number | null;
  readonly generationTokens: number | null;
}) =>
  row.phase === 'prefill'
    ? [row.phase, row.contextRequests, row.contextTokens]
    : [row.phase, row.generationRequests, row.generationTokens];

for (const [model, layerCount] of models)
  for (const mode of ['eager', 'graph'])
    for (const [profiler, capture, sidecar] of profilers) {
      const name = `agent-${model}-${mode}`;
      const open = () => openProfile([capturePath(name, capture), capturePath(name, sidecar)]);

      test(`${model}, ${mode}, ${profiler}: steps 10 to 15 and no other, each what the program did`, async () => {
        const { rows, summary } = new Analyzer(await open()).get(iterations);
        assert.equal(summary?.engine, 'stepscope agent');
        const { truth } = runNamed(`${profiler}-${model}-${mode}`).result;
        assert.deepEqual(
          rows.map(row => [row.iteration, ...stepOf(row)]),
          truth.map((step, number) => [number, ...step]).slice(10, 16),
        );
        assert.ok(
          rows.some(({ phase }) => phase === 'prefill') && rows.some(({ phase }) => phase === 'decode'),
        );
        for (const { kernels } of rows) assert.ok(kernels! > 300, `${kernels} kernels`);
      });

      test(`${model}, ${mode}, ${profiler}: every layer is named, in prefill and in decode`, async () => {
        const { rows, summary } = new Analyzer(await open()).get(layers);
        assert.deepEqual(summary?.methods, mode === 'graph' ? ['ranges', 'graph-parts'] : ['ranges']);
        for (const phase of ['prefill', 'decode']) {
          const own = rows.filter(row => row.phase === phase);
          const named = new Set(own.flatMap(({ layer }) => layer ?? []));
          assert.deepEqual(
            [...named].sort((a, b) => a - b),
            Array.from({ length: layerCount }, (_, i) => i),
          );
          // What lies outside is the embedding, masks, the last norm, the head and the choice of a token.
          const outside = own.filter(({ layer }) => layer === null).reduce((sum, row) => sum + row.share, 0);
          assert.ok(outside < 0.15, `${outside} of ${phase} outside layers`);
          if (model === 'llama') continue;
          const router = model === 'gpt-oss' ? 'mlp.router' : 'mlp.gate';
          const moe = own.filter(({ part }) => part === router);
          assert.equal(moe.length, model === 'gpt-oss' ? 4 : 3);
        }
      });
    }

test('recorded from the start, nsys tells the layers of nodes too: as the agent counted them, node by node', async () => {
  const files = ['profile.sqlite.gz', 'profile.agent.json.gz'];
  const profile = await openProfile(files.map(file => capturePath('agent-graph-creation', file)));
  const byNsys: Profile = { ...profile, tables: { ...profile.tables, graphParts: undefined } };
  const byAgent: Profile = { ...profile, tables: { ...profile.tables, graphNodes: undefined } };
  const [one, other] = [byNsys, byAgent].map(own => {
    const analyzer = new Analyzer(own);
    const { layer, part, parts, methods } = analyzer.get(layerOfWork);
    const work = analyzer.get(gpuWork);
    const kernels = Array.from(work.kind.keys()).filter(i => work.kind[i] === WorkKind.kernel);
    return { methods, places: kernels.map(i => `${layer[i]} ${parts[part[i]]}`) };
  });
  assert.deepEqual(one.methods, ['ranges', 'graph-capture']);
  assert.deepEqual(other.methods, ['ranges', 'graph-parts']);
  assert.deepEqual(other.places, one.places);
  assert.ok(new Set(one.places).size > 12);
});

test('outside windows the agent costs less than 1% of a step, with step markers less than 3%', () => {
  const own = runs.filter(({ name }) => name.startsWith('overhead-'));
  assert.equal(own.length, 7);
  for (const { name, result } of own)
    for (const { overheadPercent, withoutUs } of [result.oneByOne, result.runs]) {
      assert.ok(overheadPercent < (name.includes('outside') ? 1 : 3), `${name}: ${overheadPercent}%`);
      assert.ok(withoutUs > 900, 'a step of a millisecond: graph replay of a small model');
    }
});

test('perfect router: every expert of every layer and step gets the same, and the gate still runs', () => {
  for (const model of ['gpt-oss', 'deepseek-v3'])
    for (const mode of ['eager', 'graph']) {
      const [learned, perfect] = ['learned', 'perfect'].map(router =>
        runNamed(`router-${model}-${mode}-${router}`),
      );
      assert.ok(learned.experts!.largestDifference > 1000);
      assert.equal(perfect.experts!.largestDifference, 0);
      assert.deepEqual(perfect.experts!.tokensTimesTopK, learned.experts!.tokensTimesTopK);
      assert.deepEqual(perfect.nsys!.gateKernels, learned.nsys!.gateKernels);
      assert.ok(Object.keys(perfect.nsys!.gateKernels).length > 0);
      assert.ok(learned.stepsAsTheyWere && perfect.stepsAsTheyWere);
    }
});

/** Kernels per decode step of the routers, by name. */
async function routerKernels(router: string): Promise<Map<string, number>> {
  const files = ['profile.sqlite.gz', 'profile.agent.json'];
  const analyzer = new Analyzer(
    await openProfile(files.map(file => capturePath(`agent-router-${router}`, file))),
  );
  const { part, parts } = analyzer.get(layerOfWork);
  const work = analyzer.get(gpuWork);
  const { strings, tables } = analyzer.profile;
  const found = new Map<string, number>();
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel || parts[part[i]] !== 'mlp.router') continue;
    const name = strings.text(tables.kernels!.shortName![work.row[i] as never]);
    found.set(name, (found.get(name) ?? 0) + 1);
  }
  return found;
}

test('the captured pair: the same kernels in the router, its matrix product among them, counted inside graphs', async () => {
  const [learned, perfect] = [await routerKernels('learned'), await routerKernels('perfect')];
  assert.deepEqual(perfect, learned);
  const products = [...perfect].filter(([name]) => name.startsWith('nvjet_'));
  assert.deepEqual(
    products.map(([, count]) => count),
    [4 * 20],
  );
  const counts = (router: string): number[][][] =>
    JSON.parse(readFileSync(capturePath(`agent-router-${router}`, 'expert-load.json'), 'utf8')).counts;
  assert.deepEqual(new Set(counts('perfect').flat(2)), new Set([(256 * 4) / 32]));
  assert.ok(Math.max(...counts('learned').flat(2)) > 200);
});

test('the captured pair: what compare --perfect-router prints', async () => {
  const side = (router: string) => capturePath(`agent-router-${router}`);
  const { out } = await runStepscope(['compare', '--perfect-router', side('learned'), side('perfect')], 100);
  assertGolden('perfect-router-agent.txt', out);
});

test('two windows of one process: two reports and one file of the agent, which names the layers in both', async () => {
  const files = ['profile.sqlite.gz', 'second.sqlite.gz', 'windows.agent.json'];
  const profile = await openProfile(files.map(file => capturePath('agent-windows', file)));
  assert.deepEqual(profile.capture.files, ['profile.sqlite.gz', 'windows.agent.json', 'second.sqlite.gz']);
  const analyzer = new Analyzer(profile);
  const { truth } = runNamed('nsys-llama-graph').result;
  assert.deepEqual(
    analyzer.get(iterations).rows.map(row => [row.iteration, ...stepOf(row)]),
    [5, 6, 7, 20, 21, 22].map(number => [number, ...truth[number]]),
  );
  const { layer } = analyzer.get(layerOfWork);
  const work = analyzer.get(gpuWork);
  const node = profile.tables.kernels!.graphNode as unknown as Float64Array;
  const inLayers = (process: number) => {
    let count = 0;
    for (let i = 0; i < work.length; i++)
      if (work.kind[i] === WorkKind.kernel && node[work.row[i]] > 0 && layer[i] >= 0)
        count += Number(profile.streams[work.stream[i]].process === process);
    return count;
  };
  // Three replays in the first window, two in the second, of eight layers of 49 kernels.
  assert.deepEqual([inLayers(0), inLayers(1)], [3 * 8 * 49, 2 * 8 * 49]);
});

test('two ranks: each with its report and its file, experts even on each and over both', async () => {
  const files = [
    'profile.sqlite.gz',
    'rank1.sqlite.gz',
    'ranks-rank-0.agent.json',
    'ranks-rank-1.agent.json',
  ];
  const analyzer = new Analyzer(await openProfile(files.map(file => capturePath('agent-ranks', file))));
  const { rows } = analyzer.get(iterations);
  assert.deepEqual(
    rows.map(row => [row.iteration, row.runs.length]),
    [10, 11, 12, 13, 14, 15].map(number => [number, 2]),
  );
  assert.deepEqual(analyzer.get(layers).summary?.methods, ['ranges', 'graph-parts']);
  const counts = [0, 1].map(
    rank =>
      JSON.parse(readFileSync(capturePath('agent-ranks', `load-rank-${rank}.json`), 'utf8'))
        .counts as number[][][],
  );
  const spread = (row: readonly number[]) => Math.max(...row) - Math.min(...row);
  counts[0].forEach((step, i) => {
    step.forEach((row, j) => {
      const other = counts[1][i][j];
      const both = row.map((count, expert) => count + other[expert]);
      assert.ok(Math.max(spread(row), spread(other), spread(both)) <= 1, `step ${i}, layer ${j}`);
      const halves = [both.slice(0, 16), both.slice(16)].map(half => half.reduce((a, b) => a + b, 0));
      assert.ok(spread(halves) <= 1, `${halves}`);
    });
  });
});

test('the script planned for another machine recorded steps 12 to 20, and no other', async () => {
  const { rows } = new Analyzer(await openProfile([capturePath('agent')])).get(iterations);
  assert.deepEqual(
    rows.map(row => [row.iteration, row.phase, row.generationRequests, row.generationTokens]),
    Array.from({ length: 9 }, (_, i) => [12 + i, 'decode', 8, 8]),
  );
});

test('the size of that capture was foreseen within a factor of two', () => {
  const plan = planCapture(
    {
      command: ['python3', 'docs/evidence/capture/engine.py'],
      preset: 'python',
      agent: 'agent',
      iterations: [{ first: 12, last: 20 }],
      layers: 22,
      output: 'trace',
      traceFork: true,
    },
    { nsysVersion: { numbers: [2025, 3, 1], suffix: '' } },
  );
  // As the log says, in the words of ls.
  const measured = (file: string) =>
    Number(new RegExp(`(\\d+) Nov .* ${file}$`, 'm').exec(evidence('capture/capture.log'))![1]);
  const near = (estimate: number, real: number) => estimate < 2 * real && real < 2 * estimate;
  const { reportBytes, sqliteBytes } = plan.estimate!;
  assert.ok(near(reportBytes, measured('trace.nsys-rep')), `${reportBytes}`);
  assert.ok(near(sqliteBytes, measured('trace.sqlite')), `${sqliteBytes}`);
});
