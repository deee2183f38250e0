/** Steps that no profiler recorded: what the agent noted, what engines print, and benchmarks next to a profile. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { NONE } from '../src/base/column.js';
import { joinSidecars } from '../src/import/agent-sidecar/join-sidecars.js';
import { readCompanion, withCompanions } from '../src/import/companions.js';
import { openProfile } from '../src/import/open.js';
import { quietStepsOf } from '../src/import/quiet-step.js';
import { recordedSpan } from '../src/import/recorded-span.js';
import { readServerLog } from '../src/import/server-log.js';
import { mergeProfiles } from '../src/model/merge.js';
import type { Profile } from '../src/model/profile.js';
import { QuietSource } from '../src/model/schema.js';
import { sliceProfile } from '../src/model/slice.js';
import { redactProfile } from '../src/redact/redact.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { lacks, locate } from '../src/testing/needs.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-quiet-'));
after(() => rmSync(folder, { recursive: true }));

const fixture = (name: string) => path.join(projectRoot, 'test/fixtures', name);
const written = (name: string, text: string) => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};

type Row = readonly unknown[];
type Side = { side: string; steps: readonly unknown[] };

/** A decode step of two requests, or any other counts. */
const row = (iteration: number, startNs: number, counts: Row = [0, 0, 2, 2], thread = 1): Row => [
  ...[iteration, startNs, 5, thread],
  ...counts,
];
const PREFILL = [1, 30, 0, 0];
const MIXED = [1, 30, 2, 2];
const UNKNOWN = [0, 0, 0, 0];

const sidecar = (segments: unknown, more: Record<string, unknown> = {}) =>
  openProfile([
    written(
      'side.agent.json',
      JSON.stringify({
        ...{ stepscopeAgent: 1, originNs: '1000000000000', pid: 7, rank: 0, worldSize: 1 },
        iterations: [],
        quietSteps: segments,
        ...more,
      }),
    ),
  ]);

/** Iteration, phase and period. */
async function periodsOf(...sides: Side[]): Promise<Row[]> {
  const profile = await sidecar(sides.map(side => ({ window: 1, ...side })));
  assert.deepEqual(validateProfile(profile), []);
  return quietStepsOf(profile).map(step => [step.iteration, step.phase, step.periodNs]);
}

test('a step costs the time until the next one starts', async () => {
  assert.deepEqual(
    await periodsOf({ side: 'before', steps: [row(3, 0), row(4, 100), row(5, 230, MIXED), row(6, 600)] }),
    [
      [3, 'decode', 100],
      [4, 'decode', 130],
      [5, 'mixed', 370],
    ],
  );
});

test('no period where a step is missing, threads differ, time stands still, or the engine may have waited', async () => {
  const kept = async (...steps: Row[]) =>
    (await periodsOf({ side: 'before', steps })).map(([number]) => number);
  assert.deepEqual(await kept(row(3, 0), row(5, 100), row(6, 200)), [5]);
  assert.deepEqual(await kept(row(3, 0), row(4, 100, [0, 0, 2, 2], 2), row(5, 200, [0, 0, 2, 2], 2)), [4]);
  assert.deepEqual(await kept(row(3, 100), row(4, 100), row(5, 90)), []);
  // The last decode step of a request; the next request may come a minute later.
  assert.deepEqual(await kept(row(3, 0), row(4, 60e9, PREFILL), row(5, 60e9 + 100)), [4]);
  assert.deepEqual(await kept(row(3, 0, UNKNOWN), row(4, 100, UNKNOWN)), [3]);
  assert.deepEqual(await kept(row(3, 0), row(4, 100, UNKNOWN)), []);
});

test('the first steps after a window do not count, and segments are not joined', async () => {
  const after = Array.from({ length: 11 }, (_, i) => row(20 + i, 1000 + 10 * i));
  const sides = [
    { side: 'before', steps: [row(8, 0), row(9, 10)] },
    { side: 'after', steps: after },
  ];
  assert.deepEqual(
    (await periodsOf(...sides)).map(([number]) => number),
    [8, 28, 29],
  );
  const { tables } = await sidecar(sides);
  const sources = [...(tables.quietSteps!.source as unknown as Uint8Array)];
  assert.deepEqual(sources, [QuietSource.beforeWindow, QuietSource.afterWindow, QuietSource.afterWindow]);
});

test('rows that are none are left out and counted; nothing is trusted', async () => {
  const bad: unknown[] = [
    null,
    'x',
    [1, 2],
    row(-1, 0),
    row(1.5, 0),
    row(2, Number.MAX_VALUE),
    row(2, 0, [0, 0, -1, 2]),
  ];
  const profile = await sidecar([
    null,
    { window: 1, side: 'beside', steps: [] },
    { window: 1, side: 'before', steps: 'many' },
    { window: 1, side: 'before', steps: [...bad, row(3, 0), row(4, 100)] },
  ]);
  assert.equal(quietStepsOf(profile).length, 1);
  const [note] = profile.notes.filter(({ code }) => code === 'agent-quiet');
  assert.deepEqual([note.severity, note.count], ['loss', 2 + bad.length]);
  const many = Array.from({ length: 70 * 256 }, (_, i) => row(i, 10 * i));
  assert.equal(
    quietStepsOf(await sidecar([{ window: 1, side: 'before', steps: many }])).length,
    64 * 256 - 1,
  );
  for (const wrong of [undefined, {}, 7, [[]]]) {
    assert.equal((await sidecar(wrong)).tables.quietSteps, undefined);
  }
});

test('files of agents that did not note them are read as before', async () => {
  const old = await openProfile([fixture('agent/sidecar.json.gz')]);
  assert.equal(old.tables.quietSteps, undefined);
  assert.ok(old.tables.ranges!.length > 0);
});

test('what a real agent writes', { skip: lacks('python') }, async () => {
  const program = `
import time, stepscope_agent
for i in range(60):
    with stepscope_agent.step(ctx=(1, 9) if i == 0 else None, gen=(3, 3) if i else None):
        time.sleep(0.001)
    time.sleep(0.001)
`;
  const file = path.join(folder, 'real.agent.json');
  const ran = spawnSync(locate('python')!, ['-c', program], {
    encoding: 'utf8',
    env: {
      ...process.env,
      PYTHONPATH: path.join(projectRoot, 'agent'),
      STEPSCOPE_PROFILE_START_STOP: '10-19,40',
      STEPSCOPE_SIDECAR: file,
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  const profile = await openProfile([file]);
  const steps = quietStepsOf(profile);
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  assert.deepEqual(
    steps.map(({ iteration }) => iteration),
    [...numbers(0, 8), ...numbers(28, 38), ...numbers(49, 58)],
  );
  assert.deepEqual(
    steps
      .slice(0, 2)
      .map(({ phase, contextTokens, generationRequests }) => [phase, contextTokens, generationRequests]),
    [
      ['prefill', 9, 0],
      ['decode', 0, 3],
    ],
  );
  // The step sleeps 1 ms, and 1 ms passes until the next: the period has both.
  for (const { periodNs } of steps) assert.ok(periodNs >= 2e6 && periodNs < 1e9);
});

test('they join the capture of their process once, and survive merge and --time', async () => {
  const capture = await openProfile([capturePath('eager')]);
  const { pid } = capture.processes[capture.threads[0].process];
  const steps = [row(3, 0), row(4, 100), row(5, 230)];
  const side = await sidecar([{ window: 1, side: 'before', steps }], { pid });
  const [first, second] = joinSidecars([capture, capture, side]);
  assert.equal(second.tables.quietSteps, undefined);
  assert.deepEqual(validateProfile(first), []);
  const shown = (profile: Profile) =>
    quietStepsOf(profile).map(({ iteration, phase, periodNs, process }) => [
      ...[iteration, phase, periodNs],
      profile.processes[process].pid,
    ]);
  const expected = [
    [3, 'decode', 100, pid],
    [4, 'decode', 130, pid],
  ];
  assert.deepEqual(shown(first), expected);
  assert.deepEqual(shown(sliceProfile(first, { fromNs: 0, toNs: 1 })), expected);
  const merged = mergeProfiles([second, first]);
  assert.deepEqual(validateProfile(merged), []);
  assert.deepEqual(shown(merged), expected);
});

test('steps that the profiler recorded too, or may have, are not undisturbed', async () => {
  const capture = await openProfile([capturePath('eager')]);
  const { pid } = capture.processes[capture.threads[0].process];
  const { startNs, endNs } = recordedSpan(capture);
  const at = (ns: number) => Math.round(ns);
  // Two before the recording, two in it, two after; the second reaches into it.
  const starts = [
    startNs - 3e6,
    startNs - 1e6,
    startNs + 1e6,
    startNs + 2e6,
    endNs + 1e6,
    endNs + 2e6,
    endNs + 3e6,
  ];
  const steps = starts.map((ns, i) => row(i, at(ns)));
  const side = await sidecar([{ window: 1, side: 'before', steps }], {
    pid,
    originNs: String(capture.originNs),
  });
  const [joined] = joinSidecars([capture, side]);
  assert.deepEqual(
    quietStepsOf(joined).map(({ iteration }) => iteration),
    [0, 4, 5],
  );
  const noted = (profile: Profile) =>
    profile.notes.filter(({ code }) => code === 'agent-sidecar').map(({ text }) => text);
  assert.deepEqual(noted(joined), [
    'agent file has steps outside windows that were profiled too; these were left out',
  ]);
  // The second window of the same process is a capture of its own.
  const elsewhere = { ...capture, originNs: capture.originNs + BigInt(at(endNs - startNs)) + 2_000_000n };
  assert.deepEqual(
    quietStepsOf(joinSidecars([capture, elsewhere, side])[0]).map(({ iteration }) => iteration),
    [0, 4],
  );
  const [unclear] = joinSidecars([{ ...capture, clock: 'session' as const }, side]);
  assert.equal(unclear.tables.quietSteps, undefined);
  assert.match(noted(unclear).join(), /unknown whether they were profiled/);
  // A trace that the agent wrote holds its windows and nothing else.
  const own = await sidecar([{ window: 1, side: 'before', steps }], {
    pid,
    torchTraces: capture.capture.files,
  });
  const [trusted] = joinSidecars([{ ...capture, clock: 'session' as const }, own]);
  assert.equal(quietStepsOf(trusted).length, starts.length - 1);
  assert.deepEqual(trusted.capture.settings, capture.capture.settings);
});

test('tables that nobody asks for are not read', async () => {
  const file = written(
    'asked.agent.json',
    JSON.stringify({
      ...{ stepscopeAgent: 1, originNs: '1', pid: 7, iterations: [] },
      quietSteps: [{ window: 1, side: 'before', steps: [row(3, 0), row(4, 100)] }],
    }),
  );
  const asked = async (...names: ('ranges' | 'quietSteps')[]) =>
    (await openProfile([file], { tables: new Map(names.map(name => [name, []])) })).tables.quietSteps;
  assert.equal(await asked('ranges'), undefined);
  assert.equal((await asked('quietSteps'))?.length, 1);
});

// --- logs of engines ---------------------------------------------------------------------------------------------

const iterationLine = (
  number: number,
  { rank = 0, host = 10 + number / 100, device = '9.5ms', context = 0, generation = 8 } = {},
) =>
  `[11/02/2025-10:11:11] [TRT-LLM] [I] iter = ${number}, global_rank = ${rank}, rank = ${rank}, currank_total_requests = 0/64, host_step_time = ${host}ms, prev_device_step_time = ${device}, timestamp = 2025-11-02 10:11:11, num_scheduled_requests: ${context + generation}, states = {'num_ctx_requests': ${context}, 'num_ctx_tokens': ${context * 100}, 'num_generation_tokens': ${generation}}`;

async function withLog(profile: Profile, text: string): Promise<Profile> {
  const companion = await readCompanion(written('engine.log', `${text}\n`));
  assert.ok(companion);
  const joined = withCompanions(profile, [companion]);
  assert.deepEqual(validateProfile(joined), []);
  return joined;
}

/** Steps 100 to 119 are profiled. */
const engine = () =>
  drawEngine({ marker: step => `[Executor] _forward_step ${100 + step}: 0 ctx reqs, 8 gen reqs` });

test('an iteration log gives the iterations that were not profiled', async () => {
  const numbers = Array.from({ length: 60 }, (_, i) => 90 + i);
  const lines = numbers.flatMap(number => [
    iterationLine(number, { device: `${number}.5ms` }),
    iterationLine(number, { rank: 1, host: 999 }),
  ]);
  const steps = quietStepsOf(await withLog(engine(), lines.join('\n')));
  assert.deepEqual(
    steps.map(({ iteration }) => iteration),
    numbers.filter(number => number < 100 || number > 127),
  );
  assert.deepEqual(
    [steps[0].process, steps[0].source, steps[0].phase, steps[0].generationRequests],
    [NONE, QuietSource.iterationLog, 'decode', 8],
  );
  assert.ok(Math.abs(steps[0].periodNs - 10.9e6) < 1);
  // The line of iteration 91 has the device time of 90; the last line has none after it.
  assert.ok(Math.abs(steps[0].deviceNs! - 91.5e6) < 1);
  assert.equal(steps.at(-1)!.deviceNs, undefined);
});

test('an iteration that may have waited for requests has no period; mixed and speculative ones do', async () => {
  const lines = [
    iterationLine(1, { context: 2, generation: 0, host: 5000 }),
    iterationLine(2, { context: 1, generation: 3 }),
    iterationLine(3).replace("'num_generation_tokens': 8", "'num_generation_tokens': 24"),
  ];
  assert.deepEqual(
    quietStepsOf(await withLog(engine(), lines.join('\n'))).map(step => [
      ...[step.iteration, step.phase, step.contextRequests, step.generationRequests, step.generationTokens],
    ]),
    [
      [2, 'mixed', 1, 3, 3],
      [3, 'speculative', 0, 8, 24],
    ],
  );
});

test('an iteration log that cannot be matched by number is left out, with the reason', async () => {
  const reasonFor = async (profile: Profile, lines: string[]) => {
    const joined = await withLog(profile, lines.join('\n'));
    assert.equal(joined.tables.quietSteps, undefined);
    return joined.notes.filter(({ code }) => code === 'companion').map(({ text }) => text);
  };
  assert.deepEqual(await reasonFor(drawEngine({ marker: () => '' }), [iterationLine(1)]), [
    'log was left out: the profile has no numbered steps',
  ]);
  assert.deepEqual(await reasonFor(engine(), [iterationLine(1), iterationLine(2), iterationLine(1)]), [
    'log was left out: its iteration numbers repeat',
  ]);
  assert.deepEqual(await reasonFor(engine(), [iterationLine(101)]), [
    'log was left out: it has no step that is certainly outside the profile',
  ]);
});

test('the JSON iteration log, and lines of every version', async () => {
  const lines = readFileSync(fixture('bench/trtllm-iter-lines.log'), 'utf8');
  const steps = quietStepsOf(await withLog(engine(), lines));
  assert.deepEqual(
    steps.map(({ iteration, phase, periodNs }) => [iteration, phase, periodNs]),
    [
      [40, 'mixed', 12_500_000],
      [41, 'decode', 12_340_000],
      [42, 'decode', 12_500_000],
      [43, 'decode', 13_750_000],
    ],
  );
  // Oldest: it does not say how many requests there are.
  assert.ok(Number.isNaN(steps[0].generationRequests));
  const joined = await withLog(engine(), readFileSync(fixture('bench/trtllm-iteration.log'), 'utf8'));
  assert.equal(joined.benchmarks, undefined);
});

const vllmLine = (running: number, throughput: number, prompts = 0, number = '000', clock = '13:08:10') =>
  `(APIServer pid=158) INFO 09-02 ${clock} [loggers.py:123] Engine ${number}: Avg prompt throughput: ${prompts.toFixed(1)} tokens/s, Avg generation throughput: ${throughput.toFixed(1)} tokens/s, Running: ${running} reqs, Waiting: 0 reqs, GPU KV cache usage: 4.1%, Prefix cache hit rate: 53.7%`;

const serverSteps = (...lines: string[]) =>
  readServerLog(`${lines.join('\n')}\n`)?.steps.map(({ phase, generationRequests, periodNs }) => [
    ...[phase, generationRequests, Math.round(periodNs / 1000)],
  ]);

test("vLLM's throughput lines: only between two with the same batch and without prompts", () => {
  assert.deepEqual(
    serverSteps(
      vllmLine(10, 100, 400),
      vllmLine(10, 240.2),
      vllmLine(10, 238.7),
      vllmLine(9, 230),
      vllmLine(9, 225, 12),
      vllmLine(9, 0),
      vllmLine(0, 0),
    ),
    [
      ['decode', 10, 41632],
      ['decode', 10, 41894],
    ],
  );
  // Engines of one server are separate.
  assert.deepEqual(serverSteps(vllmLine(4, 80), vllmLine(4, 80, 0, '001'), vllmLine(4, 80)), [
    ['decode', 4, 50000],
  ]);
  // How many tokens a step gives is then unknown.
  assert.deepEqual(
    serverSteps(vllmLine(4, 80), 'SpecDecoding metrics: Mean acceptance length: 2.1', vllmLine(4, 80)),
    [],
  );
  assert.equal(serverSteps('INFO: Application startup complete.'), undefined);
});

const sglangLine = (running: number, throughput: number, { rank = '', more = '', comma = ',' } = {}) =>
  `[2026-03-14 04:59:11${rank}] Decode batch${comma} #running-req: ${running}, #token: 2326, token usage: 0.14, ${more}cuda graph: True, gen throughput (token/s): ${throughput.toFixed(2)}, #queue-req: 0`;
const SGLANG_PREFILL =
  '[2026-03-14 04:59:11 TP0] Prefill batch, #new-seq: 1, #new-token: 64, #cached-token: 128, #running-req: 4, #queue-req: 0';

test("SGLang's decode lines: not across a prefill, per rank, with accepted tokens", () => {
  const rank = ' TP0';
  assert.deepEqual(
    serverSteps(
      sglangLine(20, 1000, { rank }),
      sglangLine(20, 1174.06, { rank }),
      SGLANG_PREFILL,
      sglangLine(20, 500, { rank }),
      sglangLine(20, 1000, { rank: ' DP1 TP0' }),
      sglangLine(20, 1000, { rank, comma: '.' }),
    ),
    [
      ['decode', 20, 17035],
      ['decode', 20, 20000],
    ],
  );
  const more = 'accept len: 3.00, accept rate: 0.68, ';
  assert.deepEqual(serverSteps(sglangLine(2, 300, { more }), sglangLine(2, 300, { more })), [
    ['speculative', 2, 20000],
  ]);
});

test('a line counts only if it cannot be about the time of the profile, in any zone', async () => {
  const profile = await openProfile([capturePath('eager')]);
  const { startNs, endNs } = recordedSpan(profile);
  const startS = Number(profile.originNs) / 1e9 + startNs / 1e9;
  const endS = startS + (endNs - startNs) / 1e9;
  const clock = (second: number) => new Date(1000 * second).toISOString().slice(11, 19);
  const periods = async (from: number, to: number, one = profile) => {
    const lines = [from, to].map(second => vllmLine(10, 250, 0, '000', clock(second)));
    return quietStepsOf(await withLog(one, lines.join('\n'))).length;
  };
  const quarter = 900;
  for (const zone of [0, -5 * 3600, 5.75 * 3600]) {
    assert.equal(await periods(startS - 60 + zone, startS - 50 + zone), 1);
    assert.equal(await periods(endS + 50 + zone, endS + 60 + zone), 1);
    assert.equal(await periods(startS - 5 + zone, startS + 5 + zone), 0);
    assert.equal(await periods(startS - 100 + zone, endS + 100 + zone), 0);
    assert.equal(await periods(endS + 1 + zone, endS + 11 + zone), 0);
  }
  // Across the hour; longer than the zones are apart; nothing to compare with.
  assert.equal(await periods(startS + 450, startS + 460), 1);
  assert.equal(await periods(endS + 50, endS + 50 + quarter), 0);
  assert.equal(await periods(startS - 60, startS - 50, { ...profile, clock: 'session' }), 0);
  const without = [1, 2].map(() => vllmLine(10, 250).replace(/ 13:08:10/, ''));
  assert.equal(quietStepsOf(await withLog(profile, without.join('\n'))).length, 0);
});

// --- next to a profile -------------------------------------------------------------------------------------------

test('benchmarks and logs are recognized by content next to a profile, in any order', async () => {
  const capture = await openProfile([capturePath('eager')]);
  const later = new Date(Number(capture.originNs / 1_000_000n) + 450_000).toISOString().slice(11, 19);
  const lines = [240, 250].map(throughput => vllmLine(10, throughput, 0, '000', later));
  const log = written('server.txt', `${lines.join('\n')}\n`);
  const bench = fixture('bench-real/vllm-0.32-serve.json');
  const profile = await openProfile([log, capturePath('eager'), bench]);
  assert.deepEqual(profile.capture.files, ['profile.sqlite.gz']);
  assert.deepEqual(
    quietStepsOf(profile).map(step => step.periodNs),
    [40e6],
  );
  assert.equal(profile.benchmarks?.length, 1);
  assert.equal(profile.benchmarks[0].source.file, 'vllm-0.32-serve.json');
  assert.ok(profile.benchmarks[0].latency.tpot);
  assert.deepEqual(validateProfile(profile), []);
});

test('without a profile, or with a file that is neither, the error says so', async () => {
  const refused = (files: string[], message: RegExp) =>
    assert.rejects(openProfile(files), (error: Error) => {
      assert.match(error.message, message);
      return true;
    });
  await refused(
    [fixture('bench-real/vllm-0.32-serve.json')],
    /^vllm-0\.32-serve\.json is a benchmark result, and no profile of its run was given\.$/,
  );
  await refused([written('only.log', `${vllmLine(1, 2)}\n`)], /^only\.log is a log, and no profile/);
  const prose = written('prose.txt', 'Dear diary\n');
  await refused([capturePath('eager'), prose], /^prose\.txt is not a profile in a supported format\.$/);
  const bytes = path.join(folder, 'bytes.bin');
  writeFileSync(bytes, Buffer.alloc(5000, 0));
  await refused([capturePath('eager'), bytes], /^bytes\.bin is not a profile in a supported format\.$/);
});

test('a shareable copy keeps them: of the agent, and of a log without the rest of it', async () => {
  const redacted = async (input: string) => {
    const output = path.join(folder, `shared-${path.basename(input)}`);
    await redactProfile({ input, output, hashRanges: false, force: false, onProgress: () => {} });
    return output;
  };
  const agentFile = written(
    'own.agent.json',
    JSON.stringify({
      ...{ stepscopeAgent: 1, originNs: '1', pid: 7, iterations: [], quietStepsLeftOut: 0 },
      quietSteps: [{ window: 1, side: 'before', steps: [row(3, 0), row(4, 100)] }],
    }),
  );
  assert.equal(quietStepsOf(await openProfile([await redacted(agentFile)])).length, 1);
  const rank = ' DP0 TP0';
  const lines = [
    'INFO: 10.1.2.3:50720 - "POST /v1/secret-project HTTP/1.1" 200 OK',
    vllmLine(10, 240),
    vllmLine(10, 250),
    sglangLine(20, 1000, { rank }),
    sglangLine(20, 1000, { rank }),
  ];
  const copy = readFileSync(await redacted(written('talk.log', `${lines.join('\n')}\n`)), 'utf8');
  assert.doesNotMatch(copy, /secret|10\.1\.2\.3/);
  assert.deepEqual(
    readServerLog(copy)?.steps.map(step => step.periodNs),
    [40e6, 20e6],
  );
});
