/** Whether two runs did the same work, as their launches say; and what is said first where they did not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Analyzer, tablesReadBy } from '../src/analyze/analysis.js';
import { type Comparison, compareConfigurations } from '../src/compare/compare-configurations.js';
import { comparisonAnswer } from '../src/compare/describe-answer.js';
import { openProfile } from '../src/import/open.js';
import { comparedRun, comparedSources } from '../src/run/collect.js';
import type { CellFacts, ProfiledRun, SequenceItem } from '../src/run/run.js';
import { capturePath } from '../src/testing/captures.js';

const read = async (name: string, file?: string): Promise<ProfiledRun> =>
  comparedRun(
    new Analyzer(await openProfile([capturePath(name, file)], { tables: tablesReadBy(comparedSources) }), {}),
  );
const eager = read('eager');

const compare = (from: ProfiledRun, to: ProfiledRun): Comparison =>
  compareConfigurations({ name: 'a', runs: [from] }, { name: 'b', runs: [to] }, { threshold: 0.01 });
const launchSizes = ({ checks }: Comparison) => checks.find(({ id }) => id === 'launchSizes');
const answer = (comparison: Comparison) => comparisonAnswer(comparison).lines;

/** The run as if markers had not said its batch, its launches and times changed. */
function changed(
  run: ProfiledRun,
  { blocks = (item: SequenceItem) => item.blocks, slower = 1 }: Partial<Changes> = {},
): ProfiledRun {
  const cells = run.profile.cells.map(
    (cell): CellFacts => ({
      ...cell,
      ...{ contextTokens: 0, kvTokens: 0, tokens: 0 },
      wallNs: cell.wallNs * slower,
      stepNs: cell.stepNs.map(ns => ns * slower),
      amounts: new Map(
        [...cell.amounts].map(([part, amount]) => [part, { ...amount, ns: amount.ns * slower }]),
      ),
      sequence: cell.sequence.map(item => ({ ...item, blocks: blocks(item) })),
    }),
  );
  return { ...run, profile: { ...run.profile, cells } };
}
interface Changes {
  readonly blocks: (item: SequenceItem) => number;
  readonly slower: number;
}

test('runs of the same work launch the same grids: eager and as a graph, under two profilers', async () => {
  const others = [await read('graph'), await read('eager', 'kineto.json.gz')];
  for (const other of others) {
    const found = compare(changed(await eager), changed(other));
    assert.equal(launchSizes(found)?.status, 'same');
    assert.doesNotMatch(answer(found).join('\n'), /comparable/);
  }
});

test('another batch launches more thread blocks: that is said before which is faster', async () => {
  const base = changed(await eager);
  const larger = changed(await eager, { blocks: ({ blocks }) => blocks * 8, slower: 1.3 });
  const found = compare(base, larger);
  assert.equal(found.comparable, 'with-reservations');
  const [first, second, ...rest] = answer(found);
  assert.equal(
    first,
    'Not comparable: kernels launch 8× the thread blocks (another batch, sequence length or model).',
  );
  assert.match(second, /^b takes 30\.0% longer in /);
  assert.doesNotMatch(rest.join('\n'), /Caveats.*thread blocks/, 'it is said once');
  // And in the other direction.
  assert.match(answer(compare(larger, base))[0], /launch 0\.13× the thread blocks/);
});

test('a tuned launch, grids that were not recorded, or more GPUs are no other work', async () => {
  const base = changed(await eager);
  const parts = [...new Set(base.profile.cells.flatMap(({ sequence }) => sequence.map(({ part }) => part)))];
  const tuned = changed(base, { blocks: ({ part, blocks }) => (part === parts[1] ? blocks * 4 : blocks) });
  assert.equal(launchSizes(compare(base, tuned))?.status, 'same');
  // Some larger and some smaller: other kernels were chosen, not other work.
  const mixed = changed(base, {
    blocks: ({ part, blocks }) => (parts.indexOf(part) % 2 ? blocks * 4 : Math.max(1, blocks / 4)),
  });
  assert.equal(launchSizes(compare(base, mixed))?.status, 'unknown');
  assert.equal(launchSizes(compare(base, changed(base, { blocks: () => 0 }))), undefined);
  const larger = changed(base, { blocks: ({ blocks }) => blocks * 8 });
  const onTwo = { ...larger, facts: { ...larger.facts, gpus: 2 } };
  assert.equal(launchSizes(compare(base, onTwo)), undefined);
});

test('where neither markers nor launches say the batch, the answer says so', async () => {
  const silent = (run: ProfiledRun): ProfiledRun => ({
    ...changed(run, { blocks: () => 0 }),
    facts: { ...run.facts, phases: { decode: { steps: 5, timeShare: 1, batch: null, contextTokens: null } } },
  });
  const base = silent(await eager);
  const slower = silent(changed(await eager, { slower: 1.2 }));
  const said = /The batch is not recorded: this holds only if both sides ran the same load\./;
  assert.match(answer(compare(base, slower)).join('\n'), said);
  assert.doesNotMatch(answer(compare(await eager, changed(await eager, { slower: 1.2 }))).join('\n'), said);
});

test('layers that were guessed make it possible, marked ones certain', async () => {
  const base = changed(await eager);
  const withLayers = (layers: number, guessed: boolean, slower: number): ProfiledRun => ({
    ...changed(base, { slower }),
    facts: {
      ...base.facts,
      model: { layers, kernelsPerLayer: 12, otherKernels: 0, ...(guessed ? { guessed: true as const } : {}) },
    },
  });
  assert.equal(
    answer(compare(withLayers(32, true, 1), withLayers(48, true, 1.2)))[0],
    'Possibly not comparable: the number of layers differs (32 vs 48).',
  );
  assert.match(answer(compare(withLayers(32, false, 1), withLayers(48, false, 1.2)))[0], /^Not comparable: /);
});

test('what is faster only under the profiler is not called faster', async () => {
  const base = changed(await eager);
  const estimated = (run: ProfiledRun, ns: number): ProfiledRun => ({
    ...run,
    sideBySide: [
      ...(run.sideBySide ?? []).filter(({ id }) => !id.startsWith('undisturbed-step')),
      ...(['decode', 'prefill'] as const).map(phase => ({
        ...{ id: 'undisturbed-step/estimated', label: 'step without the profiler, estimated' },
        ...{ phase, unit: 'ns' as const, value: ns },
      })),
    ],
  });
  const slower = changed(base, { slower: 1.1 });
  const reversed = compare(estimated(base, 2e6), estimated(slower, 1.9e6));
  assert.equal(reversed.phases[0].verdict, 'not-measurable');
  assert.match(answer(reversed)[0], /^Cannot tell .*which recording alone may cause\.$/);
  assert.equal(compare(estimated(base, 2e6), estimated(slower, 2.1e6)).phases[0].verdict, 'slower');
});
