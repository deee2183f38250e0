/** Threads: whom they wait for and whether they get a CPU, drawn and in real captures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { cpuRuns } from '../src/analyze/host/cpu-runs.js';
import { threads } from '../src/analyze/host/threads.js';
import { roleOfThread } from '../src/catalog/thread-roles.js';
import { openProfile } from '../src/import/open.js';
import { ProfileBuilder } from '../src/model/builder.js';
import { ThreadState } from '../src/model/schema.js';
import { capturePath } from '../src/testing/captures.js';
import { drawnCapture } from '../src/testing/drawn-capture.js';
import { drawEngine } from '../src/testing/drawn-engine.js';
import { runStepscope } from './run-stepscope.js';

const drawn = (offCpu: 'taken' | 'moved' | 'waiting') =>
  new Analyzer(drawEngine({ before: { ns: 1e6, offCpu } }), {});

test('another thread has the CPU of the launching one for a millisecond per step', () => {
  const analyzer = drawn('taken');
  const [row] = analyzer.get(threads).rows;
  assert.ok(row.launches);
  assert.ok(Math.abs(row.contentionNs! - 1e6) < 1e4, `${row.contentionNs}`);
  assert.ok(row.delayedNs! > 0.9e6 && row.delayedNs! <= row.contentionNs!);
  assert.equal(row.unexplainedNs, 0);
  assert.equal(row.migrations, 0);
  assert.equal(row.takenBy[0].thread, 'metrics (2)');
  const found = analyzer.get(findings).findings;
  assert.equal(found[0].id, 'cpu-contention');
  // Nothing says that the kernel took the CPU away: it is inferred from calls of the system.
  assert.equal(found[0].confidence, 'possible');
  assert.match(found[0].evidence[0].text, /taken by metrics \(2\)/);
  assert.ok(!found.some(({ id }) => id === 'exposed-host-work'));
});

test('a thread that goes on on another CPU', () => {
  const analyzer = drawn('moved');
  const [row] = analyzer.get(threads).rows;
  assert.ok(Math.abs(row.migrations! - 1) < 0.06, `${row.migrations}`);
  assert.equal(row.cpus, 2);
  assert.equal(row.contentionNs, 0);
  assert.ok(Math.abs(row.unexplainedNs! - 1e6) < 1e4);
  assert.equal(analyzer.get(findings).findings[0].id, 'core-migrations');
});

test('a thread that waits for a lock has no contention, and names whom it waits for', () => {
  const analyzer = drawn('waiting');
  const [row] = analyzer.get(threads).rows;
  assert.equal(row.contentionNs, 0);
  assert.equal(row.unexplainedNs, 0);
  assert.ok(Math.abs(row.waitNs! - 1e6) < 1e4);
  assert.equal(row.waitsFor, 'metrics (2)');
  assert.ok(!analyzer.get(findings).findings.some(({ id }) => /cpu-contention|core-migrations/.test(id)));
});

test('without context switches contention is not recorded, and the page says how to record it', async () => {
  const analyzer = new Analyzer(await openProfile([capturePath('gil')]), {});
  const { rows, summary } = analyzer.get(threads);
  assert.equal(summary!.contention, 'not recorded');
  assert.ok(rows.every(row => row.contentionNs === null && row.switches === null && row.migrations === null));
  const { out } = await runStepscope(['analyze', capturePath('gil'), '--only', 'threads']);
  assert.match(out, /CPU contention and migrations: not recorded, capture with --cpuctxsw=process-tree/);
  // The thread that burns Python holds the GIL that the launching thread waits for.
  const [main, other] = [rows.find(row => row.launches)!, rows.find(row => row.tid === 556)!];
  assert.equal(main.waitsFor, other.thread);
  assert.ok(
    main.waited[0].nsPerStep > 0.9 * main.gilWaitNs! &&
      main.waited[0].nsPerStep <= main.gilWaitNs! * 1.001 + main.waitNs!,
  );
});

test('reasons of the kernel decide where they are recorded, and lost switches are counted', () => {
  const builder = new ProfileBuilder();
  const thread = builder.thread(builder.process('', 1), 1);
  const rows: [at: number, isIn: number, cpu: number, state: number][] = [
    [0, 1, 2, 0],
    [100, 0, 2, ThreadState.running],
    [150, 1, 2, 0],
    [200, 0, 2, ThreadState.interruptible],
    [300, 1, 5, 0],
    // Its end is missing.
    [400, 1, 5, 0],
    [500, 0, 5, ThreadState.running],
    [600, 0, 5, ThreadState.running],
  ];
  builder.addTable(
    'contextSwitches',
    {
      start: Float64Array.from(rows, ([at]) => at),
      thread: new Int32Array(rows.length).fill(thread),
      cpu: Int32Array.from(rows, ([, , cpu]) => cpu),
      isIn: Uint8Array.from(rows, ([, isIn]) => isIn),
      state: Int32Array.from(rows, ([, , , state]) => state),
    },
    rows.length,
  );
  const analyzer = new Analyzer(builder.build(drawnCapture('switches')), { whole: true });
  const runs = analyzer.get(cpuRuns);
  assert.deepEqual(
    runs.of(thread).map(({ start, end, cpu }) => [start, end, cpu]),
    [
      [0, 100, 2],
      [150, 200, 2],
      [400, 500, 5],
    ],
  );
  assert.equal(runs.lost, 2);
  const [row] = analyzer.get(threads).rows;
  // From 100 to 150 it could run; from 200 on it waited.
  assert.equal(row.contentionNs, 50);
  assert.equal(row.onCpuNs, 250);
  assert.equal(analyzer.get(threads).summary!.contention, 'by reason');
});

test('engines name their processes', () => {
  assert.equal(roleOfThread('VLLM::EngineCor', 'VLLM::EngineCor'), 'engine core');
  assert.equal(roleOfThread('python3', 'sglang::schedul'), 'scheduler');
  assert.equal(roleOfThread('sglang::detoken', 'ZMQbg/IO/0'), 'messages');
  assert.equal(roleOfThread('python3', 'python3'), '');
});
