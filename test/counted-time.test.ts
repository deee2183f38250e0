/** What counts: calls of the time a figure is about, moments once, and waits that were waits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer } from '../src/analyze/analysis.js';
import { findings } from '../src/analyze/findings/findings.js';
import { stepsOf } from '../src/analyze/inference/steps.js';
import { openProfile } from '../src/import/open.js';
import { DrawnTrace, traceText, withFiles } from '../src/testing/drawn-trace.js';

const findingsOf = (trace: DrawnTrace) =>
  withFiles(
    [traceText(trace.all())],
    async files => new Analyzer(await openProfile(files)).get(findings).findings,
  );
const names = ['alpha', 'beta', 'gamma', 'delta'];

test('without steps, calls before the first GPU work are in no figure', async () => {
  const trace = new DrawnTrace();
  for (let i = 0; i < 30; i++) trace.call('cudaMalloc', 1000 * i, 1000 * i + 900);
  trace.kernel('alpha', 50_000, 50_010, 50_100);
  for (let i = 0; i < 3; i++) trace.call('cudaMalloc', 51_000 + 1000 * i, 51_900 + 1000 * i);
  names.slice(1).forEach((name, i) => {
    trace.kernel(name, 55_000 + 200 * i, 55_010 + 200 * i, 55_100 + 200 * i);
  });
  const own = (await findingsOf(trace)).find(({ id }) => id === 'steady-allocations')!;
  assert.match(own.claim, /: 3 calls$/);
  assert.match(own.evidence[0].text, /^2\.70 ms in cudaMalloc; the GPU is idle for 2\.70 ms of it/);
});

test('two threads that stall at once make the GPU wait once', async () => {
  const trace = new DrawnTrace();
  trace.kernel('alpha', 0, 10, 100);
  // Both calls end with the lock that both waited for.
  trace.kernel('beta', [200, 8_200], 8_210, 8_300, { tid: 1 });
  trace.kernel('gamma', [300, 8_200], 8_310, 8_400, { tid: 2, stream: 8 });
  trace.kernel('delta', 8_350, 8_410, 12_000);
  const own = (await findingsOf(trace)).find(({ id }) => id === 'launch-stall')!;
  assert.equal(own.costNs, 8_000_000);
});

test('a copy that goes on after its call was waited for by nobody', async () => {
  const waits = async (copyAt: number) => {
    const trace = new DrawnTrace();
    for (let step = 0; step < 12; step++) {
      const at = 20_000 * step;
      trace.range(`ProfilerStep#${step}`, at, at + 19_990);
      for (let i = 0; i < 10; i++) {
        const from = at + 100 + 1_500 * i;
        trace.kernel(names[i % 4], from, from + 10, from + 300);
        const copied = from + copyAt;
        const call = [from + 290, from + 400] as const;
        trace.copy('Memcpy HtoD (Pageable -> Device)', 'cudaMemcpy', call, copied, copied + 40);
      }
    }
    return (await findingsOf(trace)).find(({ id }) => id === 'blocking-in-layers');
  };
  assert.match((await waits(350))!.claim, /^The host waits for the GPU 10 times per step in cudaMemcpy/);
  assert.equal(await waits(420), undefined, 'each call returned before its copy began');
});

test('rounds that run beside each other on the GPU are no steps of it', async () => {
  const rounds = (copyNs: number) => {
    const trace = new DrawnTrace();
    for (let round = 0; round < 12; round++) {
      const at = 1_000 * round;
      names.forEach((name, i) => {
        trace.kernel(name, at + 10 * i, at + 200 * i, at + 200 * i + 150);
      });
      // Weights of a later round, on a stream of their own.
      trace.kernel('prefetch', at + 50, at + 100, at + 100 + copyNs, { stream: 9 });
    }
    return withFiles([traceText(trace.all())], async files =>
      new Analyzer(await openProfile(files)).get(stepsOf),
    );
  };
  assert.equal((await rounds(300))?.steps.length, 12);
  assert.equal(await rounds(5_000), undefined);
});
