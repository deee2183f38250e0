/** Which files are one run, and which rank each of them is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EnvironmentCounter } from '../src/import/environment.js';
import { openProfile } from '../src/import/open.js';
import { withProcessRanks } from '../src/import/process-ranks.js';
import { withRanks } from '../src/import/run-ranks.js';
import type { Profile } from '../src/model/profile.js';
import { drawSteps } from '../src/testing/drawn-steps.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';

/** From 2001 on the clock of a trace is that of the wall. */
const AT = 1.7e15;

const trace = (rank: number, head: { lateUs?: number; more?: object; pid?: number } = {}) => {
  const drawn = new DrawnTrace(head.pid ?? 100 + rank, 0);
  for (let step = 0; step < 4; step++) {
    const at = AT + (head.lateUs ?? 0) + 1000 * step;
    drawn.kernel('ncclDevKernel_AllReduce_Sum_bf16_RING_LL', at, at + 50, at + 90);
  }
  return traceText(drawn.all(), { rank, worldSize: 4, more: head.more });
};

const named = (...names: string[]) => {
  const [profile] = [drawSteps({ marks: [], work: [[0, 0, 1, 2, 3]] })];
  return names.map((name): Profile => ({ ...profile, capture: { ...profile.capture, files: [name] } }));
};
const ranksOf = (...names: string[]) => withRanks(named(...names)).map(({ capture }) => capture.ranks[0]);

test('names give ranks if each file gets one of its own', () => {
  assert.deepEqual(ranksOf('a_rank3.sqlite', 'a_rank0.sqlite'), [3, 0]);
  assert.deepEqual(ranksOf('bs-1-TP-1-DECODE.json', 'bs-1-TP-0-DECODE.json'), [1, 0]);
  // TP alone repeats: the processes are counted as the engine does, data parallel first.
  assert.deepEqual(ranksOf('x-TP-0-DP-1.json', 'x-TP-1-DP-0.json', 'x-TP-0-DP-0.json'), [2, 1, 0]);
  assert.deepEqual(ranksOf('report.1.sqlite', 'report.0.sqlite'), [1, 0]);
  // Counting from 1 is how people number runs, not how launchers number ranks.
  assert.deepEqual(ranksOf('run1.sqlite', 'run2.sqlite'), [undefined, undefined]);
  assert.deepEqual(ranksOf('a_rank0.sqlite', 'b_rank0.sqlite'), [undefined, undefined]);
});

test('variables of launchers give a rank, if they agree and there are several', () => {
  const place = (...assignments: string[]) => {
    const environment = new EnvironmentCounter();
    for (const assignment of assignments) environment.addAssignment(assignment);
    return environment.place;
  };
  assert.deepEqual(place('OMPI_COMM_WORLD_RANK=3', 'OMPI_COMM_WORLD_SIZE=8'), { rank: 3, worldSize: 8 });
  assert.deepEqual(place('SLURM_PROCID=1', 'SLURM_NTASKS=2'), { rank: 1, worldSize: 2 });
  // One task that starts all ranks itself is not rank 0 of anything.
  assert.equal(place('SLURM_PROCID=0', 'SLURM_NTASKS=1'), undefined);
  assert.equal(place('RANK=0', 'RANK=1', 'WORLD_SIZE=2'), undefined);
  assert.equal(place('RANK=secret', 'WORLD_SIZE=2'), undefined);
});

test('processes of one file that communicate are ranks by their GPUs', () => {
  const work = [0, 1].flatMap(process =>
    ['nvjet_tst', 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'].map(
      (name, i) => [process, 10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 9, name] as const,
    ),
  );
  const ranked = withProcessRanks(drawSteps({ marks: [], work }));
  assert.deepEqual(
    ranked.processes.map(({ rank }) => rank),
    [0, 1],
  );
  assert.ok(ranked.notes.some(({ code }) => code === 'ranks-of-processes'));
  // Two servers on one machine do not talk to each other.
  const apart = withProcessRanks(
    drawSteps({ marks: [], work: work.filter(([, , , , , name]) => name === 'nvjet_tst') }),
  );
  assert.deepEqual(apart.capture.ranks, []);
});

test('a rank given twice is refused, windows of one rank are not', async () => {
  await withFiles([trace(0), trace(1), trace(1, { pid: 300 })], async files => {
    await assert.rejects(
      openProfile(files),
      /trace-1\.json and trace-2\.json both have rank 1 and cover the same time/,
    );
  });
  await withFiles([trace(0), trace(0, { lateUs: 8000 })], async files => {
    assert.deepEqual((await openProfile(files)).capture.ranks, [0]);
  });
});

test('files that used other software are refused with what differs', async () => {
  const texts = ['2.21.5', '2.28.9'].map((version, rank) => trace(rank, { more: { nccl_version: version } }));
  await withFiles(texts, async files => {
    await assert.rejects(openProfile(files), /trace-0\.json used NCCL 2\.21\.5, trace-1\.json 2\.28\.9/);
  });
});

test('ranks that are missing are said, and their number is kept', async () => {
  await withFiles([trace(0), trace(2)], async files => {
    const { capture } = await openProfile(files);
    assert.deepEqual(capture.ranks, [0, 2]);
    assert.equal(capture.distributed?.worldSize, 4);
  });
});
