/**
 * One answer for the same two runs: whatever verb is asked, the same pair of files gives the same facts, the same
 * answers about what is alike, and the same interval. Each verb reads the files as its command does.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Analyzer, type Derived, tablesReadBy } from '../src/analyze/analysis.js';
import { type Comparison, compareConfigurations } from '../src/compare/compare-configurations.js';
import { compareMeasured } from '../src/compare/frameworks/compare-frameworks.js';
import type { Framework } from '../src/compare/frameworks/framework.js';
import { measureFramework } from '../src/compare/frameworks/measure-framework.js';
import { checkRuns } from '../src/gate/check.js';
import { type DifferenceKind, differenceKinds } from '../src/gate/comparable.js';
import { parseGatePolicy } from '../src/gate/policy.js';
import { openProfile } from '../src/import/open.js';
import { judgeRouter } from '../src/moe/experiment/router-pair.js';
import { measureRun, measureSources, profileRun, profileSources } from '../src/run/collect.js';
import { phaseSources } from '../src/run/phase-figures.js';
import type { ProfiledRun, Run } from '../src/run/run.js';
import type { Sameness } from '../src/run/sameness.js';
import { traits } from '../src/run/traits.js';
import { captureNames, capturePath, projectRoot } from '../src/testing/captures.js';

interface Collected {
  readonly name: string;
  /** As the perfect router has it too. */
  readonly compared: ProfiledRun;
  readonly checked: Run;
  readonly framework: Framework;
}

const analyzerOf = async (file: string, sources: readonly Derived<unknown>[]) =>
  new Analyzer(await openProfile([file], { tables: tablesReadBy(sources) }));

async function collect(name: string, file: string): Promise<Collected> {
  const given = capturePath(name, file);
  const framework = await analyzerOf(given, [...profileSources, ...phaseSources]);
  return {
    name: `${name}/${file}`,
    compared: profileRun(await analyzerOf(given, profileSources)),
    checked: measureRun(await analyzerOf(given, measureSources)),
    framework: measureFramework({ name, analyzer: framework, runs: [] }, { runs: [], loads: 0 }),
  };
}

const files = captureNames
  .filter(name => name !== 'client')
  .flatMap(name =>
    ['profile.sqlite.gz', 'kineto.json.gz']
      .filter(file => existsSync(capturePath(name, file)))
      .map(file => [name, file] as const),
  );
const all: Collected[] = [];
for (const [name, file] of files) all.push(await collect(name, file));
/** Every capture beside those after it in the list, and every one beside the first: all kinds of differences occur. */
const pairs = all.flatMap((from, i) =>
  all.filter((_, j) => j > i && (i === 0 || j - i <= 3)).map(to => [from, to] as const),
);

test('every verb knows the same facts of a run', () => {
  for (const { name, compared, checked, framework } of all) {
    assert.deepEqual(checked.facts, compared.facts, `${name}: check`);
    assert.deepEqual(framework.run!.facts, compared.facts, `${name}: frameworks`);
    assert.deepEqual(framework.run!.profile.capture, compared.profile.capture, `${name}: frameworks`);
  }
});

const kinds = differenceKinds.map(({ id }) => id);
/** Confidence on one side: the floor is then half of a 95% interval. */
const policy = parseGatePolicy(
  'confidence: 97.5%\nlimits:\n  - {metric: step.mean, max_increase: 0%, unless_not_recorded: skip}\n',
  'policy.yaml',
);

function checked(from: Collected, to: Collected, allow: readonly DifferenceKind[]) {
  return checkRuns([to.checked], policy, { name: 'from', tool: 'test', runs: [from.checked] }, allow);
}

function compared(from: Collected, to: Collected): Comparison | undefined {
  if (
    !from.compared.profile.cells.some(cell => to.compared.profile.cells.some(one => one.phase === cell.phase))
  )
    return undefined;
  const side = ({ name, compared: run }: Collected) => ({ name, runs: [run] });
  return compareConfigurations(side(from), side(to), { threshold: 0.01 });
}

/** What the table calls it by `--allow-different`. */
const kindOf: Readonly<Record<string, string>> = {
  gpu: 'gpu',
  gpus: 'gpus',
  layers: 'model',
  stepsFoundBy: 'steps',
  graphs: 'graphs',
  profiler: 'profiler',
};

test('every verb gives the same answer about what is alike', () => {
  const seen = new Map<string, Set<string>>();
  for (const [from, to] of pairs) {
    const comparison = compared(from, to);
    if (!comparison) continue;
    const where = `${from.name} → ${to.name}`;
    const router = judgeRouter({ runs: [], profile: from.compared }, { runs: [], profile: to.compared });
    const frameworks = compareMeasured([from.framework, to.framework]);
    // The label names the phase, where there are several.
    const answers = new Map(
      comparison.checks.flatMap(check => [
        [check.id, check],
        [check.label, check],
      ]),
    );
    const sameAs = (verb: string, checks: readonly Sameness[]) => {
      for (const { id, label, status, values } of checks) {
        const known = answers.get(label);
        if (!known) continue;
        assert.deepEqual([status, values], [known.status, known.values], `${where}: ${id} by ${verb}`);
        seen.set(id, (seen.get(id) ?? new Set()).add(status));
      }
    };
    sameAs('the perfect router', router.checks);
    sameAs('frameworks', frameworks.checks);
    const obstacles = checked(from, to, []).differences.map(({ kind }) => kind as string);
    for (const [id, kind] of Object.entries(kindOf))
      assert.equal(
        obstacles.includes(kind),
        answers.get(id)!.status === 'differs',
        `${where}: ${id} by check`,
      );
  }
  for (const id of ['layers', 'graphs', 'profiler', 'batch'])
    assert.ok(
      seen.get(id)?.has('same') && seen.get(id)?.has('differs'),
      `${id} was never alike, or never not`,
    );
});

test('every verb gives the same interval', () => {
  let found = 0;
  for (const [from, to] of pairs) {
    const comparison = compared(from, to);
    const where = `${from.name} → ${to.name}`;
    const close = (verb: string, a: readonly number[], b: readonly number[], to: number) => {
      a.forEach((value, i) => {
        assert.ok(Math.abs(value - b[i]) <= to * Math.abs(b[1] - b[0]), `${where} by ${verb}: ${a} ${b}`);
      });
      found++;
    };
    const router = judgeRouter({ runs: [], profile: from.compared }, { runs: [], profile: to.compared });
    const frameworks = compareMeasured([from.framework, to.framework]);
    const [limit] = checked(from, to, kinds).limits;
    for (const { phase, interval, mixes } of comparison?.phases ?? []) {
      const evidence = router.evidence.find(one => one.phase === phase);
      if (!interval) {
        assert.ok(!evidence?.interval, where);
        continue;
      }
      if (evidence) {
        // A gain is a ratio of times: turned back into the change of the time.
        const changes = evidence.interval!.map(gain => evidence.normal / (1 + gain) - evidence.normal);
        // An interval that reaches below no time at all is cut there.
        const isWhole = interval[0] > -0.99 * evidence.normal;
        if (isWhole) close('the perfect router', [...changes].reverse(), interval, 1e-6);
      }
      const { why } = frameworks.verdict;
      if (why?.stepInterval && frameworks.phase === phase) {
        const sign = why.from === from.framework.name ? 1 : -1;
        const own = sign > 0 ? why.stepInterval : [-why.stepInterval[1], -why.stepInterval[0]];
        if (from.framework.name !== to.framework.name) close('frameworks', own, interval, 1e-6);
      }
      // A baseline keeps no batches: check takes all steps of a phase, as compare does where there is one mix.
      if (
        limit.scope === phase &&
        mixes.length === 1 &&
        mixes[0].mix !== '' &&
        limit.noise?.source === 'steps'
      ) {
        const { change, noise } = limit;
        close('check', [change! - noise.floor, change! + noise.floor], interval, 1e-4);
      }
    }
  }
  assert.ok(found > 150, `${found} intervals`);
});

test('everything runs are asked about is in docs/metrics.md', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/metrics.md'), 'utf8');
  const section = text.slice(text.indexOf('## Two runs'), text.indexOf('## Gate and trend'));
  const listed = section.split('\n').flatMap(line => line.split('|')[1]?.split(/,| \(|…/) ?? []);
  const known = listed.map(label => label.trim());
  // Parallelism and batch limits stand for several settings.
  const grouped = /parallel|^max batch/;
  for (const { label } of traits(['decode', 'prefill']))
    assert.ok(known.includes(label) || grouped.test(label) || label === 'prefill steps', label);
});
