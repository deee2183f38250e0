/** Clients' requests joined to the engine's steps: sums to the nanosecond, clocks, and two real servers. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { alignClient } from '../src/analyze/requests/align-client.js';
import { type ClientRequest, requestsOf } from '../src/analyze/requests/client-request.js';
import { engineState } from '../src/analyze/requests/engine-state.js';
import { partsOf } from '../src/analyze/requests/request-parts.js';
import { requests } from '../src/analyze/requests/requests.js';
import { spansOf } from '../src/analyze/requests/step-spans.js';
import { readBenchText } from '../src/import/bench/open-bench.js';
import { openProfile } from '../src/import/open.js';
import { hashOfRequest } from '../src/load/request-hash.js';
import type { BenchRun } from '../src/model/bench-run.js';
import type { NotedStep, StepLog } from '../src/model/step-log.js';
import { randomStream } from '../src/stats/random.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertGolden } from '../src/testing/golden.js';
import { runStepscope } from './run-stepscope.js';

const fixture = (name: string) => path.join(projectRoot, 'test/fixtures/requests', name);

type Ids = readonly (readonly string[])[];

/** `p`: prefill, `d`: decode, `m`: mixed, `.`: a step without requests. A letter is a step that starts 10 ns after the last. */
function draw(letters: string, ids?: readonly Ids[]): StepLog {
  const counts = { p: [1, 0], d: [0, 1], m: [1, 1], '.': [0, 0] } as Record<string, number[]>;
  const steps = [...letters].map((letter, i): NotedStep => {
    const [contextRequests, generationRequests] = counts[letter];
    return {
      ...{ iteration: i, startNs: 10 * i, hostNs: 4, contextRequests, generationRequests },
      ...{ contextTokens: 8 * contextRequests, generationTokens: generationRequests },
      ...(ids ? { contextIds: ids[i][0], generationIds: ids[i][1] } : {}),
    };
  });
  return { file: 'drawn', rank: 0, originNs: 1_000n, originMonotonicNs: 500n, wallDriftNs: 0, steps };
}

const request = (dueNs: number, firstNs: number, endNs: number, more: Partial<ClientRequest> = {}) => ({
  ...{ id: 0, dueNs, firstNs, endNs, outputTokens: 4, ...more },
});

test('without ids: what ran while a request waited, was prefilled and decoded', () => {
  //                0   10  20  30  40  50  60  70  80
  const spans = spansOf(draw('ddpdmdpdd'));
  const other = request(-50, -20, 200);
  const own = request(13, 34, 75);
  // Due in a decode step of the other one, first possible prefill at 20, over at 30; the token comes at 34.
  assert.deepEqual(partsOf(own, spans, [other, own]), {
    by: 'one-step',
    first: { queueNs: 7, prefillNs: 10, beforeNs: 0, afterNs: 4, prefillSteps: 1 },
    // 34–40 and 50–60 and 70–75 decode; 40–50 mixed; 60–70 is the prefill of another alone.
    decode: { decodeNs: 21, mixedNs: 10, stallNs: 10, waitNs: 0, unexplainedNs: 0, steps: 3 },
  });
  // With nobody else in flight the engine had nothing to do: the request was on its way.
  const alone = partsOf(own, spans, [own]);
  assert.deepEqual(alone?.first, { queueNs: 0, prefillNs: 10, beforeNs: 7, afterNs: 4, prefillSteps: 1 });
});

test('the rest of the prefill step in which the first token came is not a stall by others', () => {
  const parts = partsOf(request(3, 17, 28), spansOf(draw('dpdd')), []);
  assert.deepEqual(parts?.first, { queueNs: 0, prefillNs: 7, beforeNs: 7, afterNs: 0, prefillSteps: 1 });
  assert.deepEqual(parts?.decode, {
    ...{ decodeNs: 8, mixedNs: 0, stallNs: 0, waitNs: 0, unexplainedNs: 3, steps: 1 },
  });
});

test('a prefill step that another request waits for is queueing', () => {
  const spans = spansOf(draw('.ppdd'));
  const [early, late] = [request(5, 25, 40), request(12, 38, 40)];
  // 12–20: the prefill of the early one runs; its own begins at 20.
  const parts = partsOf(late, spans, [early, late]);
  assert.deepEqual(parts?.first, { queueNs: 8, prefillNs: 10, beforeNs: 0, afterNs: 8, prefillSteps: 1 });
});

test('with ids: its own steps, and those that ran without it', () => {
  const [a, b] = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
  const log = draw('dppddpddd', [
    [[], [b]],
    [[b], []],
    [[a], []],
    [[], [a, b]],
    [[], [b]],
    [[b], []],
    [[], [a, b]],
    [[], [b]],
    [[], [b]],
  ]);
  const own = request(4, 33, 78, { serverId: a });
  const other = request(-9, -3, 100, { serverId: b });
  assert.deepEqual(partsOf(own, spansOf(log), [other, own]), {
    by: 'ids',
    // Until 20 only the other one ran, a prefill among it: by time that would count as its own.
    first: { queueNs: 16, prefillNs: 10, beforeNs: 0, afterNs: 3, prefillSteps: 1 },
    // 33–40 and 60–70 its own; 40–50 decode without it; 50–60 prefill of the other; from 70 on it is delivered.
    decode: { decodeNs: 17, mixedNs: 0, stallNs: 10, waitNs: 10, unexplainedNs: 8, steps: 1 },
  });
  // One step without ids may have run it: back to time.
  const { contextIds: _, ...bare } = log.steps[4];
  const holed = { ...log, steps: log.steps.map((step, i) => (i === 4 ? bare : step)) };
  assert.equal(partsOf(own, spansOf(holed), [other, own])?.by, 'time');
});

test('time for which no steps were noted is not taken apart', () => {
  const log = draw('pdddpd');
  // Step 2 is missing: nothing is known from the end of the call of step 1 to step 3.
  const holed = { ...log, steps: log.steps.filter(({ iteration }) => iteration !== 2) };
  const spans = spansOf(holed);
  assert.deepEqual(
    spans.map(({ endNs }) => endNs),
    [10, 14, 40, 50, 54],
  );
  assert.deepEqual(partsOf(request(-2, 12, 13), spans, []), {
    by: 'time',
    decode: { decodeNs: 1, mixedNs: 0, stallNs: 0, waitNs: 0, unexplainedNs: 0, steps: 0 },
  });
  assert.deepEqual(partsOf(request(0, 12, 33), spans, [])?.decode, undefined);
  // A first token without any prefill step cannot be.
  assert.equal(partsOf(request(31, 39, 45), spans, []), undefined);
});

test('every sum is exact, whatever the steps and requests', () => {
  const random = randomStream(7, 'requests');
  const whole = (most: number) => Math.floor(random() * most);
  let [firsts, decodes] = [0, 0];
  for (let round = 0; round < 200; round++) {
    let at = 0;
    const steps = Array.from({ length: 60 }, (_, iteration): NotedStep => {
      at += 1 + whole(5_000_000);
      const [contextRequests, generationRequests] = [whole(2), whole(3)];
      return {
        ...{ iteration, startNs: at, hostNs: whole(1000), contextRequests, generationRequests },
        ...{ contextTokens: 0, generationTokens: generationRequests },
      };
    });
    const spans = spansOf({ ...draw(''), steps });
    const all = Array.from({ length: 6 }, (_, id) => {
      const dueNs = whole(at);
      const firstNs = dueNs + whole(at / 4);
      return request(dueNs, firstNs, firstNs + whole(at / 4), { id });
    }).sort((a, b) => a.dueNs - b.dueNs);
    for (const own of all) {
      const parts = partsOf(own, spans, all);
      if (parts?.first) {
        const { queueNs, prefillNs, beforeNs, afterNs } = parts.first;
        const terms = [queueNs, prefillNs, beforeNs, afterNs];
        assert.ok(terms.every(ns => Number.isSafeInteger(ns) && ns >= 0));
        assert.equal(queueNs + prefillNs + beforeNs + afterNs, own.firstNs - own.dueNs);
        firsts++;
      }
      if (parts?.decode) {
        const { decodeNs, mixedNs, stallNs, waitNs, unexplainedNs } = parts.decode;
        assert.equal(decodeNs + mixedNs + stallNs + waitNs + unexplainedNs, own.endNs - own.firstNs);
        decodes++;
      }
    }
  }
  assert.ok(firsts > 300 && decodes > 300, `${firsts} and ${decodes} sums`);
});

const client = (rows: readonly object[], clock: BenchRun['clock']): BenchRun => ({
  ...{ source: { file: 'load.json', format: 'x' }, tool: 'x', load: {}, throughput: {}, latency: {} },
  ...{ counts: {}, notes: [], requests: rows as BenchRun['requests'], clock },
});
const aligned = (run: BenchRun, log: StepLog) => alignClient(run, requestsOf(run), log, spansOf(log));

test('clocks: the same machine, the time of day, and why neither may do', () => {
  const log = { ...draw('ddpdddpd'), machine: '0123456789abcdef' };
  const rows = [
    { id: 0, startNs: 0, ttftNs: 20, e2eNs: 60 },
    { id: 1, startNs: 40, ttftNs: 20, e2eNs: 60 },
  ];
  // The monotonic clock of the first request due is 512, the log's origin is 500.
  const same = aligned(client(rows, { monotonicNs: '512', utcNs: '9', machine: log.machine }), log);
  assert.ok(typeof same === 'object');
  assert.deepEqual([same.by, same.shiftNs, same.withoutPrefill], ['monotonic', 12, 0]);
  // 12–32 holds the prefill at 20, 52–72 that at 60: 12 ns earlier or 8 ns later one of them would be outside.
  assert.deepEqual([same.earlierNs, same.laterNs], [12, 8]);
  const wall = aligned(client(rows, { utcNs: '1012', machine: 'fedcba9876543210' }), log);
  assert.ok(typeof wall === 'object');
  assert.deepEqual([wall.by, wall.shiftNs], ['wall', 12]);
  const moved = aligned(client(rows, { utcNs: '1021', machine: 'fedcba9876543210' }), log);
  assert.match(String(moved), /no step with prefill ran/);
  const later = aligned(client(rows, { utcNs: '900000' }), log);
  assert.match(String(later), /no request of the client lies in the time/);
  // The monotonic clock of another machine says nothing. Where the client began bounds the places to one.
  const begun = { machine: 'fedcba9876543210', notBeforeNs: '1000', requestsBefore: 0 };
  const placed = aligned(client(rows, { ...begun, monotonicNs: '7' }), log);
  assert.deepEqual(placed, {
    ...same,
    by: 'events',
    shiftNs: 10,
    earlierNs: 10,
    laterNs: 10,
    comparedSteps: 5,
  });
  // Without, the first or the last request alone could be the one that was seen.
  assert.match(String(aligned(client(rows, {}), log)), /in 3 places/);
  // One request fits at either prefill step.
  assert.match(String(aligned(client(rows.slice(0, 1), {}), log)), /in 2 places/);
  assert.match(String(aligned(client(rows, {}), draw('dddd'))), /no step with prefill was recorded/);
});

test('steps with more requests than were in flight are counted', () => {
  const log = draw('dpmd');
  const run = client([{ startNs: 5, ttftNs: 10, e2eNs: 40 }, { startNs: 30 }], { utcNs: '1000' });
  const found = aligned(run, log);
  assert.ok(typeof found === 'object');
  // At 20 a step prefills one and decodes one, and one request is in flight.
  assert.deepEqual([found.crowdedSteps, found.comparedSteps], [1, 3]);
});

test('detailed serving results: starts are on the monotonic clock, the end is the sum of gaps', () => {
  const result = {
    ...{ request_throughput: 1, completed: 2, duration: 1, total_input_tokens: 8, total_output_tokens: 5 },
    ...{ input_lens: [4, 4], output_lens: [3, 2], ttfts: [0.5, 0.25], itls: [[0.125, 0.25], [0.5]] },
    ...{ start_times: [100.5, 101], errors: ['', ''] },
  };
  const [run] = readBenchText('bench.json', JSON.stringify(result));
  assert.deepEqual(run.clock, { monotonicNs: '0' });
  assert.deepEqual(
    run.requests?.map(({ startNs, ttftNs, e2eNs }) => [startNs, ttftNs, e2eNs]),
    [
      [100.5e9, 0.5e9, 0.875e9],
      [101e9, 0.25e9, 0.75e9],
    ],
  );
});

test('load hashes the id of an answer as the agent hashes that of the engine', () => {
  // The same value is in agent/tests/test_request_ids.py.
  assert.equal(hashOfRequest('cmpl-2f3a9c0011223344'), '572b3a89d36f');
  assert.equal(hashOfRequest('cmpl-2f3a9c0011223344-0-1a2b3c4d'), '572b3a89d36f');
});

for (const engine of ['vllm', 'sglang'])
  test(`a real ${engine} server under load: every request that was covered adds up`, async () => {
    const files = [fixture(`${engine}.agent.json`), fixture(`${engine}.load.json`)];
    const load = JSON.parse(readFileSync(files[1], 'utf8'));
    const profile = await openProfile(files);
    const { rows } = new Analyzer(profile).get(requests);
    assert.equal(rows.length, 24);
    for (const row of rows) {
      const own = load.levels[0].requests.find(({ id }: { id: number }) => id === row.request);
      if (row.ttftNs !== null) {
        assert.equal(row.ttftNs, own.ttftNs);
        assert.equal(row.queueNs! + row.prefillNs! + row.beforeNs! + row.afterNs!, own.ttftNs);
      }
      if (row.decodeNs === null) continue;
      assert.equal(row.decodeNs, own.e2eNs - own.ttftNs);
      assert.equal(row.decodeStepsNs! + row.mixedNs! + row.stallNs! + row.unexplainedNs!, row.decodeNs);
      // 128 tokens: 127 steps after the first, of which the engine may have begun three before the first arrived.
      assert.ok(row.decodeSteps! >= 124 && row.decodeSteps! <= 128, `${row.decodeSteps} steps`);
    }
    const { out } = await runStepscope(['analyze', ...files, '--only', 'requests']);
    assertGolden(`requests-${engine}.txt`, out);
  });

test('queue and KV cache of the engine lie in the steps that ran then', async () => {
  const log = draw('.pddmdd');
  const profile = {
    ...(await openProfile([fixture('vllm.agent.json')])),
    clock: 'utc' as const,
    originNs: 900n,
    stepLogs: [{ ...log, machine: 'aaaaaaaaaaaaaaaa' }],
  };
  const run = {
    source: { file: 'load.json', format: 'stepscope-load' },
    // 0 of the client is 5 ns after the origin of the steps.
    clock: { monotonicNs: '505', machine: 'aaaaaaaaaaaaaaaa' },
    requests: [{ id: 1, startNs: 2, ttftNs: 16, e2eNs: 60, outputTokens: 5 }],
    engineStates: [
      { atNs: 8, running: 1, waiting: 2, kvShare: 0.5 },
      { atNs: 36, running: 3, waiting: 0 },
      { atNs: 4000, running: 9 },
    ],
    ...{ load: {}, counts: {}, throughput: {}, latency: {}, notes: [] },
  } as unknown as BenchRun;
  const given = new Analyzer({ ...profile, benchmarks: [run] }).get(engineState);
  assert.deepEqual(
    given.rows.map(({ iteration, timeNs, phase, batch, running, waiting, kvShare }) => [
      ...[iteration, timeNs, phase, batch, running, waiting, kvShare],
    ]),
    [
      [1, 113, 'prefill', 1, 1, 2, 0.5],
      [4, 141, 'mixed', 2, 3, 0, null],
    ],
  );
  assert.deepEqual(given.summary, {
    states: 2,
    running: { mean: 2, max: 3 },
    waiting: { mean: 1, max: 2 },
    queuedShare: 0.5,
    kvShare: { mean: 0.5, max: 0.5 },
  });
  const printed = [
    { file: 'serve.log', states: [{ iteration: 3, running: 7, kvShare: 0.125 }, { iteration: 99 }] },
  ];
  const byNumber = new Analyzer({ ...profile, engineStates: printed }).get(engineState);
  assert.deepEqual(
    byNumber.rows.map(({ iteration, source, running, waiting }) => [iteration, source, running, waiting]),
    [[3, 'log', 7, null]],
  );
  assert.throws(() => new Analyzer(profile).get(engineState), /queue and KV cache/);
});
