/** Baselines and the gate: verdicts, exit codes, noise, policies people get wrong, and what CI reads. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { Analyzer, tablesReadBy } from '../src/analyze/analysis.js';
import { checkRuns } from '../src/gate/check.js';
import { obstaclesOf, remarksOn } from '../src/gate/comparable.js';
import { baselinesSchema, checkSchema, policySchema } from '../src/gate/gate-schema.js';
import { floorOf } from '../src/gate/noise.js';
import { parseGatePolicy } from '../src/gate/policy.js';
import { openBenchRuns } from '../src/import/bench/open-bench.js';
import { openProfile } from '../src/import/open.js';
import { renderAnnotations } from '../src/report/github.js';
import { renderJunit } from '../src/report/junit.js';
import { measureRun, measureSources, withBench } from '../src/run/collect.js';
import { runFigure } from '../src/run/collect-figures.js';
import { metricById, metrics } from '../src/run/metrics.js';
import type { Run } from '../src/run/run.js';
import { percentile } from '../src/stats/percentile.js';
import { seededRandom } from '../src/stats/random.js';
import { estimate } from '../src/stats/resample.js';
import { studentQuantile } from '../src/stats/student.js';
import { capturePath, projectRoot, unlikeCaptures } from '../src/testing/captures.js';
import { normal, runOf, writeRun } from './gate-runs.js';
import { answerIn, runStepscope as stepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-gate-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string) => path.join(folder, name);
const write = (name: string, text: string) => {
  writeFileSync(at(name), text);
  return at(name);
};
const child = (...args: string[]) =>
  spawnSync(process.execPath, [path.join(projectRoot, 'bin/stepscope'), ...args], {
    encoding: 'utf8',
    cwd: folder,
  });

const measureCapture = async (name: string, file?: string): Promise<Run> =>
  measureRun(
    new Analyzer(await openProfile([capturePath(name, file)], { tables: tablesReadBy(measureSources) })),
  );
const policyOf = (text: string) => parseGatePolicy(text, 'policy.yaml');
const baselineOf = (...runs: Run[]) => ({ name: 'main', tool: 'stepscope test', runs });
const limit = (metric: string, bounds: string, more = '') =>
  policyOf(`limits:\n  - {metric: ${metric}, ${bounds}${more === '' ? '' : `, ${more}`}}\n`);
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const schemas = {
  baselines: ajv.compile(baselinesSchema),
  check: ajv.compile(checkSchema),
  policy: ajv.compile(policySchema),
};
function assertFollows(name: keyof typeof schemas, value: unknown): void {
  assert.ok(schemas[name](value), `${name}: ${JSON.stringify(schemas[name].errors?.slice(0, 3))}`);
}

test('every exit code, as a script meets it', () => {
  const relative = write(
    'relative.yaml',
    'limits:\n  - {metric: step.p50, max_increase: 3%}\n  - {metric: kernels, max_increase: 0}\n',
  );
  const graph = capturePath('graph');
  assert.equal(child('baseline', 'save', 'graph', graph, '--baselines', at('codes.json')).status, 0);
  const check = (file: string, ...more: string[]) =>
    child(
      'check',
      file,
      '--policy',
      relative,
      '--baselines',
      at('codes.json'),
      '--baseline',
      'graph',
      ...more,
    );
  const same = check(graph);
  assert.equal(same.status, 0, same.stderr + same.stdout);
  assert.match(same.stdout, /^ {2}Pass: 2 of 2 limits passed\./);
  const other = check(capturePath('eager'));
  assert.equal(other.status, 2);
  assert.match(other.stdout, /^ {2}Not comparable with the baseline: different CUDA graphs: none/);
  const allowed = check(capturePath('eager'), '--allow-different', 'graphs');
  assert.equal(allowed.status, 1);
  assert.match(
    allowed.stdout,
    /^ {2}Regression: decode step\.p50 3\.79 ms → 23\.4 ms, \+518\.4% \(max_increase 3%\)/,
  );
  const absolute = write('absolute.yaml', 'limits:\n  - {metric: step.p50, max: 4ms}\n');
  assert.equal(child('check', graph, '--policy', absolute).status, 0);
  assert.equal(child('check', capturePath('eager'), '--policy', absolute).status, 1);
  const bad: readonly (readonly string[])[] = [
    ['check', 'no-such-file.sqlite', '--policy', absolute],
    ['check', absolute, '--policy', absolute],
    ['check', graph, '--policy', 'no-such-policy.yaml'],
    ['check', graph, '--policy', folder],
    ['check', graph],
    ['check'],
    ['check', graph, '--policy', absolute, '--polcy', 'x'],
    ['check', graph, '--policy', absolute, '--json', '--markdown'],
    ['check', graph, '--policy', absolute, '--json', '--github'],
    ['check', graph, '--policy', relative],
    ['check', graph, '--policy', relative, '--baseline', 'main', '--baselines', 'none.json'],
    ['check', graph, '--policy', relative, '--baseline', 'main', '--baselines', at('codes.json')],
    ['check', graph, '--policy', relative, '--baseline', 'graph', '--baselines', absolute],
    ['check', graph, '--policy', absolute, '--allow-different', 'gpuu'],
    ['check', graph, '--policy', write('bad.yaml', 'limits:\n  - metric: step.p50\n    mx: 4ms\n')],
    ['check', capturePath('client'), '--policy', absolute],
  ];
  for (const args of bad) {
    const { status, stderr, stdout } = child(...args);
    assert.equal(status, 3, `${args.join(' ')}: ${stdout}`);
    assert.equal(stderr.trim().split('\n').length, 2, stderr);
    assert.doesNotMatch(stderr, /^\s+at /m);
  }
});

test('10% slower fails; 1% inside the noise is not measurable, and passes', async () => {
  const before = writeRun(at('before.json'), { seed: 1 });
  const slower = writeRun(at('slower.json'), { seed: 2, slower: 1.1 });
  const barely = writeRun(at('barely.json'), { seed: 3, slower: 1.01, scatter: 0.08 });
  const file = at('drawn.json');
  const policy = write('tight.yaml', 'limits:\n  - metric: step.mean\n    max_increase: 0.1%\n');
  assert.equal(child('baseline', 'save', 'main', before, '--baselines', file).status, 0);
  const check = (run: string) =>
    child('check', run, '--policy', policy, '--baseline', 'main', '--baselines', file);
  const worse = check(slower);
  assert.equal(worse.status, 1, worse.stdout);
  assert.match(worse.stdout, /REGRESSION/);
  const noise = check(barely);
  assert.equal(noise.status, 0, noise.stdout);
  assert.match(noise.stdout, /\+\d\.\d% .*not measurable/);
  assert.match(noise.stdout, /run-to-run noise is unknown/);
  assert.match(noise.stdout, /tighter than the noise/);
  // The same 1% with steps that hardly scatter is measurable.
  const steady = (seed: number, slow: number) => runOf({ seed, slower: slow, scatter: 0.001 });
  const clear = checkRuns(
    [steady(5, 1.01)],
    limit('step.mean', 'max_increase: 0.1%'),
    baselineOf(steady(4, 1)),
  );
  assert.equal(clear.verdict, 'regression');
  const loose = checkRuns(
    [steady(5, 1.01)],
    limit('step.mean', 'max_increase: 3%'),
    baselineOf(steady(4, 1)),
  );
  assert.equal(loose.verdict, 'pass');
});

test('repeats give the noise floor: a prediction band with Student’s quantile', () => {
  const metric = metricById('memory.peak')!;
  const withPeak = (value: number): Run => ({
    ...runOf({ seed: 1 }),
    figures: { run: { 'memory.peak': { value } } },
  });
  const noise = floorOf([withPeak(104)], [98, 100, 102].map(withPeak), 'run', metric);
  assert.equal(noise.source, 'repeats');
  // s = 2 of three runs, two degrees of freedom, one run to come: 2.920 × 2 × √(1 + 1/3).
  assert.ok(Math.abs(noise.floor - 2.92 * 2 * Math.sqrt(4 / 3)) < 0.01, `${noise.floor}`);
  assert.deepEqual(floorOf([withPeak(104)], [withPeak(100)], 'run', metric), {
    floor: 0,
    source: 'unknown',
    runs: 2,
  });
  // Steps of two kinds scatter by half in every run, and alike: what runs show is what counts.
  const mixed = (seed: number) =>
    runOf({ seed, scatter: 0.001, steps: 12, stepNs: step => (step % 5 < 2 ? 10e6 : 15e6) + 1e3 * seed });
  const byRuns = floorOf([mixed(4)], [mixed(1), mixed(2), mixed(3)], 'decode', metricById('step.mean')!);
  const bySteps = floorOf([mixed(4)], [mixed(1)], 'decode', metricById('step.mean')!);
  assert.equal(bySteps.source, 'steps');
  assert.ok(byRuns.floor < 1e4 && bySteps.floor > 1e6, `${byRuns.floor} ${bySteps.floor}`);
  const policy = limit('memory.peak', 'max_increase: 1%');
  const verdict = (peak: number) =>
    checkRuns([withPeak(peak)], policy, baselineOf(...[98, 100, 102].map(withPeak))).limits[0].verdict;
  assert.equal(verdict(100.9), 'pass');
  assert.equal(verdict(106), 'not-measurable');
  assert.equal(verdict(107), 'regression');
  assert.ok(Math.abs(studentQuantile(0.95, 1) - 6.3138) < 1e-3);
  assert.ok(Math.abs(studentQuantile(0.975, 9) - 2.2622) < 1e-3);
  assert.ok(Math.abs(studentQuantile(0.95, 2000) - 1.6456) < 1e-3);
});

test('unchanged code is a regression about as often as the confidence says, with run-to-run noise', () => {
  const random = seededRandom(11);
  const metric = metricById('throughput.output')!;
  const template = runOf({ seed: 1 });
  const draw = (): Run => ({
    ...template,
    figures: { run: { [metric.id]: { value: 1000 * (1 + 0.03 * normal(random)) } } },
  });
  const policy = limit(metric.id, 'max_decrease: 0%');
  let alarms = 0;
  const trials = 2000;
  for (let i = 0; i < trials; i++) {
    const { verdict } = checkRuns([draw()], policy, baselineOf(draw(), draw(), draw()));
    if (verdict === 'regression') alarms++;
  }
  assert.ok(alarms / trials > 0.035 && alarms / trials < 0.065, `${alarms} of ${trials}`);
});

test('without repeats the floor from steps holds where runs differ by their steps alone', () => {
  const policy = limit('step.mean', 'max_increase: 0%');
  let alarms = 0;
  const trials = 120;
  for (let seed = 0; seed < trials; seed++) {
    const { verdict } = checkRuns(
      [runOf({ seed: 2 * seed + 1 })],
      policy,
      baselineOf(runOf({ seed: 2 * seed + 2 })),
    );
    if (verdict === 'regression') alarms++;
  }
  assert.ok(alarms <= 14, `${alarms} of ${trials}`);
  const whole = [10, 10, 10, 10, 10, 10];
  const idle = estimate([{ weight: 1, part: [1, 2, 3, 4, 5, 6], whole }]).error!;
  // Of equal wholes it is the standard error of a mean: s / √n.
  assert.ok(Math.abs(idle - Math.sqrt(3.5 / 6) / 10) < 1e-12, `${idle}`);
  assert.equal(percentile([4, 1, 3, 2], 50), 2.5);
  assert.equal(percentile([4, 1, 3, 2], 90), 4);
});

test('limits hold or break on the right side of the bound, in both directions', () => {
  const before = runOf({ seed: 1, scatter: 0 });
  const slow = runOf({ seed: 1, scatter: 0, slower: 1.1 });
  const verdict = (run: Run, metric: string, bounds: string) =>
    checkRuns([run], limit(metric, bounds), baselineOf(before)).limits[0].verdict;
  assert.equal(verdict(slow, 'step.p50', 'max_increase: 9%'), 'regression');
  assert.equal(verdict(slow, 'step.p50', 'max_increase: 11%'), 'pass');
  assert.equal(verdict(slow, 'step.p50', 'max_increase: 900us'), 'regression');
  assert.equal(verdict(slow, 'step.p50', 'max_increase: 1100us'), 'pass');
  assert.equal(verdict(slow, 'step.p50', 'max: 10.5ms'), 'regression');
  assert.equal(verdict(slow, 'step.p50', 'min: 10.5ms'), 'pass');
  assert.equal(verdict(slow, 'token.rate', 'max_decrease: 5%'), 'regression');
  assert.equal(verdict(slow, 'token.rate', 'max_decrease: 10%'), 'pass');
  assert.equal(verdict(before, 'token.rate', 'min: 900/s'), 'regression');
  assert.equal(verdict(slow, 'step.p50', 'max_increase: 9%, severity: warn'), 'warning');
  // From nothing to something is an increase whatever the percentage.
  assert.equal(
    verdict(
      runOf({ seed: 1, scatter: 0, kernels: ['nccl_x', 'ncclDevKernel_AllReduce'] }),
      'family.communication',
      'max_increase: 50%',
    ),
    'regression',
  );
  const warned = checkRuns([slow], limit('step.p50', 'max_increase: 9%, severity: warn'), baselineOf(before));
  assert.equal(warned.verdict, 'pass');
});

test('what was not recorded is not a zero: it fails, or is skipped where the policy says so', async () => {
  const hidden = await measureCapture('graphmode');
  for (const metric of [
    'kernels',
    'kernel-time',
    'family.gemm',
    'communication.exposed',
    'ttft.p99',
    'idle.gil',
  ])
    assert.equal(
      runFigure(hidden, metricById(metric)!.scope === 'run' ? 'run' : 'decode', metric),
      undefined,
      metric,
    );
  const strict = checkRuns([hidden], limit('kernels', 'max: 2000'), undefined);
  assert.equal(strict.verdict, 'regression');
  assert.equal(strict.limits[0].verdict, 'not-recorded');
  const skip = checkRuns([hidden], limit('kernels', 'max: 2000', 'unless_not_recorded: skip'), undefined);
  assert.equal(skip.verdict, 'pass');
  assert.equal(skip.limits[0].verdict, 'skipped');
  const graph = await measureCapture('graph');
  assert.deepEqual(runFigure(graph, 'decode', 'family.moe-router'), { value: 0, error: 0 });
  assert.equal(runFigure(await measureCapture('gil'), 'decode', 'idle.gil')!.value > 0.1, true);
  const phase = checkRuns([graph], limit('step.p50', 'max: 5ms, phase: prefill'), undefined);
  assert.equal(phase.limits[0].verdict, 'not-recorded');
});

test('the metrics are those of the analyses', async () => {
  const run = await measureCapture('graph');
  const value = (metric: string) => runFigure(run, 'decode', metric)!.value;
  assert.equal(value('step.p50'), 3791145);
  assert.equal(value('kernels'), 1017);
  assert.ok(Math.abs(value('idle') - 0.3341) < 1e-4);
  const causes = metrics
    .filter(({ id }) => id.startsWith('idle.'))
    .map(({ id }) => runFigure(run, 'decode', id)?.value ?? 0);
  assert.ok(Math.abs(causes.reduce((a, b) => a + b, 0) - value('idle')) < 1e-6, 'causes add up to idle');
  const families = metrics.filter(({ id }) => /^family\.(?!copy|memset)/.test(id)).map(({ id }) => value(id));
  assert.ok(
    Math.abs(families.reduce((a, b) => a + b, 0) - value('kernel-time')) < 1,
    'families add up to kernel time',
  );
  assert.ok(Math.abs(value('token.rate') * value('token.time') - 1e9) < 100);
  assert.equal(run.steps.decode!.length, 8);
  const [bench] = await openBenchRuns([path.join(projectRoot, 'test/fixtures/bench/vllm-serve.json')]);
  const both = withBench(run, bench);
  assert.equal(both.figures.run!['ttft.p99'].value, bench.latency.ttft!.percentilesNs['99']);
  assert.deepEqual(both.figures.decode, run.figures.decode);
  const long = runOf({ seed: 1, steps: 2000 });
  assert.ok(long.steps.decode!.length <= 512 && long.steps.decode!.length >= 400);
});

test('what is left of a damaged file is neither gated nor kept', () => {
  const whole = readFileSync(capturePath('eager', 'kineto.json.gz'));
  writeFileSync(at('cut.json.gz'), whole.subarray(0, whole.length >> 1));
  writeFileSync(at('any-policy.yaml'), 'limits:\n  - metric: idle\n    max: 100%\n');
  const checked = child('check', at('cut.json.gz'), '--policy', at('any-policy.yaml'));
  assert.equal(checked.status, 3);
  assert.match(checked.stderr, /truncated or damaged/);
  const saved = child('baseline', 'save', 'cut', at('cut.json.gz'), '--baselines', at('cut-baselines.json'));
  assert.notEqual(saved.status, 0);
});

test('a benchmark is gated without a profile, and only against the same load', () => {
  const result = path.join(projectRoot, 'test/fixtures/bench/vllm-serve.json');
  const file = at('bench-baselines.json');
  const policy = at('bench-policy.yaml');
  writeFileSync(
    policy,
    'limits:\n  - metric: ttft.p99\n    max_increase: 5%\n  - metric: throughput.output\n    max_decrease: 5%\n',
  );
  assert.equal(child('baseline', 'save', 'served', '--bench', result, '--baselines', file).status, 0);
  const check = (bench: string) =>
    child('check', '--bench', bench, '--policy', policy, '--baseline', 'served', '--baselines', file);
  assert.equal(check(result).status, 0);
  const slower = JSON.parse(readFileSync(result, 'utf8'));
  for (const name of Object.keys(slower))
    if (/ttft/.test(name) && typeof slower[name] === 'number') slower[name] *= 2;
  writeFileSync(at('slower.json'), JSON.stringify(slower));
  const answer = check(at('slower.json'));
  assert.match(answer.stdout, /ttft\.p99/);
  assert.equal(answer.status, 1);
  writeFileSync(at('other-load.json'), JSON.stringify({ ...slower, max_concurrency: 7 }));
  assert.equal(check(at('other-load.json')).status, 2, 'another concurrency answers another question');
});

test('runs about something else are not comparable, each for its reason', () => {
  const run = runOf({ seed: 1 });
  const { facts } = run;
  const model = { layers: 22, kernelsPerLayer: 46, otherKernels: 4 };
  const decode = facts.phases.decode!;
  const of = (changed: object, own = facts) =>
    obstaclesOf({ ...run, facts: { ...facts, ...changed } }, { ...run, facts: own }, ['decode']).map(
      ({ kind }) => kind,
    );
  assert.deepEqual(of({}), []);
  assert.deepEqual(of({ gpu: 'NVIDIA H100' }), ['gpu']);
  assert.deepEqual(of({ gpus: 2 }), ['gpus']);
  assert.deepEqual(of({ engine: 'vLLM' }), ['engine']);
  assert.deepEqual(of({ stepsFoundBy: 'kernel-sequence' }), ['steps']);
  assert.deepEqual(of({ profiler: 'kineto' }), ['profiler']);
  assert.deepEqual(of({ graphs: 'blocks' }), ['graphs']);
  assert.deepEqual(of({ phases: {} }), ['phases']);
  assert.deepEqual(of({ phases: { decode: { ...decode, batch: 16 } } }), ['batch']);
  assert.deepEqual(of({ phases: { decode: { ...decode, batch: 7.7 } } }), []);
  assert.deepEqual(of({ model: { ...model, layers: 32 } }, { ...facts, model }), ['model']);
  assert.deepEqual(
    of({ model: { ...model, kernelsPerLayer: 40 } }, { ...facts, model }),
    [],
    'a fusion is a change, not another model',
  );
  assert.deepEqual(
    of({ model: { ...model, layers: 11, kernelsPerLayer: 92 } }, { ...facts, model }),
    [],
    'the same stretch',
  );
  assert.deepEqual(of({ gpu: null, engine: null }), [], 'what is not said is not judged');
  const silent = { ...run, facts: { ...facts, phases: { decode: { ...decode, batch: null } } } };
  const unsized = /the batch of decode steps is not recorded/;
  assert.match(remarksOn(silent, silent, ['decode']).join('\n'), unsized);
  assert.doesNotMatch(remarksOn(run, run, ['decode']).join('\n'), unsized);
  const other = checkRuns(
    [runOf({ seed: 2, gpu: 'NVIDIA H100' })],
    limit('step.p50', 'max_increase: 50%'),
    baselineOf(runOf({ seed: 1 })),
  );
  assert.equal(other.verdict, 'not-comparable');
  assert.equal(other.limits[0].verdict, 'not-comparable');
  // A bound that needs no baseline stands whatever the baseline is.
  const broken = checkRuns(
    [runOf({ seed: 2, gpu: 'NVIDIA H100' })],
    policyOf('limits:\n  - {metric: step.p50, max: 1ms, max_increase: 50%}\n'),
    baselineOf(runOf({ seed: 1 })),
  );
  assert.equal(broken.verdict, 'regression');
});

test('a file of baselines is stable, whole, and holds nothing secret', async () => {
  const file = at('stable.json');
  const save = (...more: string[]) =>
    stepscope(['baseline', 'save', 'main', capturePath('graph'), '--baselines', file, ...more]);
  assert.equal((await save()).status, 0);
  const first = readFileSync(file, 'utf8');
  const refused = await save();
  assert.equal(refused.status, 2);
  assert.match(refused.err, /Baseline main already exists in .+\.\nReplace it with --force/);
  assert.equal(readFileSync(file, 'utf8'), first);
  assert.equal((await save('--force')).status, 0);
  assert.equal(readFileSync(file, 'utf8'), first, 'the same bytes');
  assertFollows('baselines', JSON.parse(first));
  for (const line of first.split('\n')) assert.ok(line.length <= 130, line);
  assert.match(first, /^ +"step\.p50": \{ "value": 3791145 \},$/m);
  // Another one leaves the first as it was, and its removal leaves the file as it was.
  await stepscope(['baseline', 'save', '12', capturePath('eager'), '--baselines', file]);
  const both = readFileSync(file, 'utf8');
  assert.ok(both.startsWith(first.slice(0, first.lastIndexOf('    }'))), 'what was there stays where it was');
  await stepscope(['baseline', 'remove', '12', '--baselines', file]);
  assert.equal(readFileSync(file, 'utf8'), first);
  assert.deepEqual(
    readdirSync(folder).filter(name => name.endsWith('.tmp')),
    [],
  );
  for (const name of unlikeCaptures.filter(known => known !== 'client')) {
    const text = JSON.stringify(await measureCapture(name));
    assert.doesNotMatch(text, /[/\\]|@|=|HOME|PATH|TOKEN/, name);
  }
  const linked = at('linked.json');
  symlinkSync(file, linked);
  await stepscope(['baseline', 'save', 'more', capturePath('graph'), '--baselines', linked]);
  assert.match(readFileSync(file, 'utf8'), /"more"/);
  assert.equal(
    (
      await stepscope([
        'baseline',
        'save',
        'x',
        capturePath('graph'),
        '--baselines',
        at('no/such/folder.json'),
      ])
    ).status,
    9,
  );
});

test('repeats are added to a baseline, and only repeats', async () => {
  const file = at('repeats.json');
  const runs = [1, 2, 3].map(seed => writeRun(at(`repeat-${seed}.json`), { seed }));
  const saved = await stepscope([
    'baseline',
    'save',
    'main',
    runs[0],
    '--repeat',
    runs[1],
    '--baselines',
    file,
  ]);
  assert.match(saved.err, /2 runs/);
  assert.equal(
    (await stepscope(['baseline', 'save', 'main', runs[2], '--add', '--baselines', file])).status,
    0,
  );
  const shown = await stepscope(['baseline', 'show', 'main', '--baselines', file]);
  assert.match(shown.out, /runs +3: repeat-1\.json, repeat-2\.json, repeat-3\.json/);
  assert.match(shown.out, /decode step\.p50 .*\(repeats\)/);
  assert.match((await stepscope(['baseline', 'list', '--baselines', file])).out, /main +3 +NVIDIA A100/);
  const other = await stepscope([
    'baseline',
    'save',
    'main',
    writeRun(at('h100.json'), { seed: 1, gpu: 'NVIDIA H100' }),
    '--add',
    '--baselines',
    file,
  ]);
  assert.equal(other.status, 2);
  assert.match(
    other.err,
    /is not a repeat of repeat-1\.json: different GPU: NVIDIA H100, expected NVIDIA A100/,
  );
  const policy = write(
    'repeats.yaml',
    'baseline: main\nlimits:\n  - {metric: step.p50, max_increase: 0.01%}\n',
  );
  const checked = await stepscope([
    'check',
    writeRun(at('again.json'), { seed: 9 }),
    '--policy',
    policy,
    '--baselines',
    file,
    '--json',
  ]);
  const document = answerIn(checked.out);
  assert.equal(document.limits[0].noiseFrom, 'repeats');
  const twice = await stepscope([
    'check',
    runs[0],
    '--repeat',
    runs[1],
    '--policy',
    policy,
    '--baselines',
    file,
    '--json',
  ]);
  assert.equal(answerIn(twice.out).run.repeats, 2);
  const mixed = await stepscope([
    'check',
    runs[0],
    '--repeat',
    at('h100.json'),
    '--policy',
    policy,
    '--baselines',
    file,
  ]);
  assert.equal(mixed.status, 3);
  assert.match(mixed.err, /h100\.json is not a repeat of repeat-1\.json/);
  assert.doesNotMatch(document.remarks.join('\n'), /run-to-run noise is unknown/);
  for (const name of ['', '../x', 'a b', '-x', 'x'.repeat(101)]) {
    const { status, err } = await stepscope(['baseline', 'save', '--baselines', file, '--', name, runs[0]]);
    assert.equal(status, 2, name);
    assert.match(err, /is not a valid baseline name/);
  }
  assert.equal(
    (await stepscope(['baseline', 'save', 'new', runs[0], '--add', '--baselines', file])).status,
    3,
  );
  assert.equal((await stepscope(['baseline', 'rename', 'a', '--baselines', file])).status, 2);
});

test('a damaged file of baselines is told, not believed', () => {
  const good = { name: 'm', tool: 't', runs: [runOf({ seed: 1 })] };
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ['{', /JSON/],
    [[], /not an object/],
    [{ schema: 'stepscope-baselines/9', baselines: [] }, /stepscope-baselines\/9/],
    [{ schema: 'stepscope-baselines/1' }, /must be a list/],
    [{ schema: 'stepscope-baselines/1', baselines: [{ ...good, runs: [] }] }, /"m": "runs"/],
    [{ schema: 'stepscope-baselines/1', baselines: [good, good] }, /twice/],
    [
      {
        schema: 'stepscope-baselines/1',
        baselines: [
          { ...good, runs: [{ ...good.runs[0], figures: { decode: { 'step.p50': { value: '3' } } } }] },
        ],
      },
      /step\.p50 must have a number/,
    ],
    [
      {
        schema: 'stepscope-baselines/1',
        baselines: [{ ...good, runs: [{ ...good.runs[0], steps: { decode: ['a'] } }] }],
      },
      /list of numbers/,
    ],
    [
      {
        schema: 'stepscope-baselines/1',
        baselines: [{ ...good, runs: [{ ...good.runs[0], facts: { ...good.runs[0].facts, gpu: 3 } }] }],
      },
      /"gpu"/,
    ],
  ];
  for (const [value, message] of cases) {
    const file = write('damaged.json', typeof value === 'string' ? value : JSON.stringify(value));
    const { status, stderr } = child('baseline', 'list', '--baselines', file);
    assert.equal(status, 5, JSON.stringify(value).slice(0, 80));
    assert.match(stderr, message);
    assert.equal(stderr.trim().split('\n').length, 2);
  }
});

test('--init prints a policy that holds for its own run, and says what it is', async () => {
  for (const name of unlikeCaptures.filter(known => !['client', 'unified'].includes(known))) {
    const { status, out, err } = await stepscope(['check', capturePath(name), '--init']);
    assert.equal(status, 0, `${name}: ${err}`);
    assertFollows('policy', parse(out));
    const checked = await stepscope(['check', capturePath(name), '--policy', write('init.yaml', out)]);
    assert.equal(checked.status, 0, `${name}: ${checked.out}${checked.err}`);
    assert.ok(out.split('\n').filter(line => line.trim().startsWith('#')).length > 8);
    // With the lines for a baseline taken in, it still reads.
    policyOf(out.replaceAll(/# (max_(?:in|de)crease)/g, '$1'));
  }
  const { out } = await stepscope(['check', capturePath('graph'), '--init']);
  assert.match(
    out,
    /# median wall time of a step: 3\.79 ms in this run\n {2}- metric: step\.p50\n {4}phase: decode\n {4}max: 4\.18ms/,
  );
});

test('JSON follows its schema, Markdown is a comment, and both can go to a file beside the text', async () => {
  const file = at('forms.json');
  const before = writeRun(at('forms-before.json'), { seed: 1 });
  const later = writeRun(at('forms-later.json'), { seed: 2, slower: 1.2 });
  await stepscope(['baseline', 'save', 'main', before, '--baselines', file]);
  const policy = path.join(projectRoot, 'docs/examples/policy.yaml');
  const common = ['check', later, '--policy', policy, '--baselines', file];
  const json = await stepscope([...common, '--json']);
  assert.equal(json.status, 1);
  const document = answerIn(json.out);
  assertFollows('check', document);
  assert.equal(document.verdict, 'regression');
  assert.ok(
    document.limits.some(
      (one: { metric: string; verdict: string }) => one.metric === 'step.p50' && one.verdict === 'regression',
    ),
  );
  const all = await stepscope([
    ...common,
    '--markdown',
    '-o',
    at('comment.md'),
    '--junit',
    at('junit.xml'),
    '--prometheus',
    at('check.prom'),
    '--github',
  ]);
  assert.equal(all.status, 1);
  const samples = readFileSync(at('check.prom'), 'utf8').split('\n');
  const wanted = document.limits.find((one: { metric: string }) => one.metric === 'step.p50');
  const labels = `{metric="step.p50",phase="${wanted.phase}",unit="${wanted.unit}"}`;
  assert.ok(samples.some(line => /^stepscope_check_exit_code(\{baseline="[^"]*"\})? 1$/.test(line)));
  assert.ok(samples.includes(`stepscope_measured${labels} ${wanted.measured}`), samples.join('\n'));
  assert.ok(samples.includes(`stepscope_regression${labels} 1`));
  // Every line is a comment or a sample of a name that a comment introduced, once.
  const sample = /^[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? -?[\d.e+-]+$/;
  for (const line of samples)
    assert.match(line, new RegExp(`^$|^# (?:HELP|TYPE) stepscope_|${sample.source}`));
  assert.equal(new Set(samples).size, samples.length);
  assert.match(
    all.out,
    /^ {2}Regression: decode step\.p50 .*\n[\s\S]*^::error file=.*policy\.yaml,line=\d+,title=Stepscope%3A decode step\.p50::/m,
  );
  const comment = readFileSync(at('comment.md'), 'utf8');
  assert.match(comment, /^<!-- stepscope-check -->\nRegression: /);
  assert.match(comment, /\| decode step\.p50 \| max\\_increase 3% \|/);
  const cases = parseXml(readFileSync(at('junit.xml'), 'utf8'));
  assert.equal(cases.filter(name => name === 'testcase').length, document.limits.length);
  assert.ok(cases.includes('failure') && cases.includes('skipped'));
  for (const width of [60, 80, 110]) {
    const { out } = await stepscope(common, width);
    assert.match(out, /Verdict/);
    for (const line of out.split('\n')) assert.ok([...line].length <= width, line);
  }
});

/** Names of the elements of a document, each closed in its turn; throws where XML would. */
function parseXml(text: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  let rest = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n/, '');
  assert.notEqual(rest, text, 'no declaration');
  for (const char of text) {
    const code = char.codePointAt(0)!;
    const isForbidden = (code < 0x20 && !'\t\n\r'.includes(char)) || (code >= 0xd800 && code <= 0xdfff);
    assert.ok(!isForbidden && code !== 0xfffe && code !== 0xffff, `XML cannot hold ${code}`);
  }
  while (rest !== '') {
    const words = /^[^<&]+|^&(?:amp|lt|gt|quot|apos|#\d+);/.exec(rest);
    const tag = /^<(\/?)([a-z-]+)((?: [a-z]+="(?:[^<&"]|&(?:amp|lt|gt|quot|apos|#\d+);)*")*)(\/?)>/.exec(
      rest,
    );
    const token = words ?? tag;
    assert.ok(token, `not well-formed at: ${rest.slice(0, 80)}`);
    if (words) assert.doesNotMatch(words[0], /\]\]>/);
    if (tag?.[1]) assert.equal(open.pop(), tag[2]);
    else if (tag) {
      names.push(tag[2]);
      if (!tag[4]) open.push(tag[2]);
    }
    rest = rest.slice(token[0].length);
  }
  assert.deepEqual(open, []);
  return names;
}

test('JUnit is well-formed whatever the names are', () => {
  const hostile = [
    '<b>&amp;"\'',
    ']]>',
    '\u0000\u0008\ud800 lone',
    'line\nbreak\ttab',
    '<!-- --><![CDATA[',
    '😀\ufffe',
    '</testcase>',
  ];
  const cases = hostile.flatMap(name =>
    (['passed', 'failed', 'error', 'skipped'] as const).map(outcome => ({
      group: name,
      name,
      outcome,
      message: name,
    })),
  );
  const xml = renderJunit('<suite "&">', cases);
  assert.equal(parseXml(xml).filter(name => name === 'testcase').length, cases.length);
  assert.match(xml, /failures="7" errors="7" skipped="7"/);
  assert.throws(() => parseXml(xml.replace('&lt;', '<')), /not well-formed/);
  assert.throws(() => parseXml(xml.replace('</testcase>', '')));
});

test('GitHub reads one annotation per line, whatever the names are', () => {
  const text = renderAnnotations([
    {
      level: 'error',
      title: 'a:b,c%\nd',
      message: '50%, a:b\r\n::error::x',
      file: 'dir,with:odd.yaml',
      line: 7,
    },
  ]);
  assert.equal(
    text,
    '::error file=dir%2Cwith%3Aodd.yaml,line=7,title=a%3Ab%2Cc%25%0Ad::50%25, a:b%0D%0A::error::x\n',
  );
});

test('names in a profile cannot speak to GitHub, to a terminal or to Markdown', async () => {
  const file = at('hostile.json');
  const gpu = 'H @someone ::add-mask::x \u001b[31m\n::error title=x::owned <img src=x> | `a` [l](u)';
  await stepscope(['baseline', 'save', 'main', writeRun(at('plain.json'), { seed: 1 }), '--baselines', file]);
  const policy = write('hostile.yaml', 'baseline: main\nlimits:\n  - {metric: step.p50, max_increase: 3%}\n');
  const args = [
    'check',
    writeRun(at('hostile-run.json'), { seed: 2, gpu }),
    '--policy',
    policy,
    '--baselines',
    file,
    '--junit',
    at('hostile.xml'),
  ];
  const { status, out } = await stepscope([...args, '--github'], 60);
  assert.equal(status, 2);
  // A wrapped line may begin with any word of a name.
  assert.ok(!out.includes('\u001b') && !out.includes('::add-mask'));
  for (const line of out.split('\n').map(part => part.trimStart()))
    assert.doesNotMatch(line, /^::(?!error title=Not comparable::)/, line);
  parseXml(readFileSync(at('hostile.xml'), 'utf8'));
  const comment = (await stepscope([...args, '--markdown'])).out;
  assert.doesNotMatch(comment, /<img|[^\\]`a`|[^\\]\[l\]|@someone/);
});

test('the sample policy follows its schema', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/examples/policy.yaml'), 'utf8');
  const policy = parseGatePolicy(text, 'policy.yaml');
  assert.equal(policy.baseline, 'main');
  assert.ok(policy.limits.length >= 12);
  assert.deepEqual(policy.warnings, []);
  assertFollows('policy', parse(text));
  assert.ok(!schemas.policy({ limits: [{ metric: 'setp.p50', max: '3ms' }] }), 'the schema can say no');
});

test('every metric and every difference is in docs/gate.md, and its YAML reads', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/gate.md'), 'utf8');
  for (const { id } of metrics) {
    const shown = id.startsWith('family.') ? 'family.' : id.startsWith('idle.') ? 'idle.' : id;
    assert.ok(text.includes(`\`${shown}`) || text.includes(`\`${id.split('.')[0]}.`), id);
  }
  const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(match => match[1]);
  assert.ok(blocks.length >= 3);
  for (const block of blocks) {
    if (/^limits:/m.test(block)) parseGatePolicy(block, 'docs/gate.md');
    else assert.ok(typeof parse(block) === 'object');
  }
});
