/** From the sums of a lake to what a report states: slow ranks and nodes, configurations, changes over time. */
import type { Phase } from '../catalog/phases.js';
import { profilers } from '../catalog/profilers.js';
import { type ChangePoint, findChangePoints, LEAST_RUNS } from '../gate/change-points.js';
import { medianOf } from '../stats/summary.js';
import { type LakeFile, type RunProblem, recordedTime } from './lake-files.js';
import type { LakeData, OpenLake, UnitSums } from './read-lake.js';
import { type TermsOfChange, termsOfChange } from './terms-of-change.js';

/** Means per step and device. `ownNs`: the step apart from exposed communication. */
export interface UnitMeans {
  readonly steps: number;
  readonly wallNs: number;
  readonly ownNs: number;
  readonly computeNs: number;
  readonly communicationNs: number;
  readonly copyNs: number;
  readonly idleNs: number;
}

export interface RunSummary extends UnitMeans {
  readonly run: string;
  /** The phase with most time. */
  readonly phase: Phase;
  /** Nanoseconds since 1970; null: its files have clocks of their own. */
  readonly startUtcNs: number | null;
  readonly configuration: string;
  readonly files: number;
  readonly units: number;
  readonly nodes: number;
  /** Longest mean of a device apart from communication, divided by the median of the devices; null: only one. */
  readonly spread: number | null;
  readonly mixed: boolean;
  /** Per step, mean; null: not recorded. */
  readonly requests: number | null;
  readonly tokens: number | null;
}

export interface RankRow extends UnitMeans {
  readonly run: string;
  readonly phase: string;
  readonly rank: number | null;
  readonly device: number;
  readonly host: string | null;
  readonly path: string;
  /** ownNs minus the median of the run's devices. */
  readonly aboveMedianNs: number;
  readonly aboveMedianShare: number;
  /** Of the steps that all devices recorded; null: steps are not numbered, or only one device. */
  readonly slowestShare: number | null;
  readonly persistent: boolean;
  /** Collective time per step above that of the quickest device; null: not comparable. */
  readonly collectiveExcessNs: number | null;
  /** The part that exceeds its median most. */
  readonly mostly: 'compute' | 'idle' | 'copies' | null;
}

interface NodeRow {
  readonly host: string;
  readonly runs: number;
  readonly units: number;
  /** Mean of ownNs divided by the median of its run. */
  readonly ofMedian: number;
  /** Runs in which the slowest device is on this node, of those on several nodes. */
  readonly slowestInRuns: number;
  readonly sharedRuns: number;
}

interface ConfigurationRow extends UnitMeans {
  readonly configuration: string;
  readonly phase: string;
  readonly runs: number;
  readonly latestRun: string;
}

export interface LevelChange {
  readonly configuration: string;
  readonly phase: string;
  readonly lastBefore: string;
  readonly firstAfter: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly point: ChangePoint;
  /** What steps had to do on both sides, where that is recorded and differs by more than 1%. */
  readonly load: readonly LoadChange[];
  readonly terms: TermsOfChange;
}

interface LoadChange {
  readonly what: 'requests' | 'tokens';
  readonly from: number;
  readonly to: number;
}

export interface History {
  readonly configuration: string;
  readonly phase: string;
  /** In order of time. */
  readonly runs: readonly RunSummary[];
  readonly changes: readonly LevelChange[];
  readonly tooFew: boolean;
  /** Runs of which nothing states when they were recorded: ordered by name. */
  readonly untimed: boolean;
}

interface FleetFinding {
  readonly rule: string;
  readonly phase: string | null;
  readonly runs: number;
  readonly files: number;
  readonly costNs: number | null;
  readonly costShare: number | null;
  readonly firstRun: string;
  readonly lastRun: string;
  readonly claim: string;
}

export interface FleetReport {
  readonly data: LakeData;
  readonly problems: readonly RunProblem[];
  readonly runs: readonly RunSummary[];
  /** Of runs with several devices, those furthest above the median first. */
  readonly ranks: readonly RankRow[];
  readonly nodes: readonly NodeRow[];
  readonly configurations: readonly ConfigurationRow[];
  readonly histories: readonly History[];
  readonly findings: readonly FleetFinding[];
}

/** From this share of the steps on, one rank is the slowest most of the time; the same share as for stragglers. */
const MOST = 0.5;
const FEWEST_STEPS = 8;
/** Means over steps of the same load differ by less. */
const SAME_LOAD = 0.01;

export async function composeFleetReport(lake: OpenLake): Promise<FleetReport> {
  const { data } = lake;
  const filesOfRun = groupBy(data.files.counted, ({ run }) => run);
  const unitsOfRun = groupBy(data.units, ({ run }) => run);
  const mixed = new Set(data.files.problems.filter(({ kind }) => kind === 'mixed').map(({ run }) => run));
  const runs = [...filesOfRun].flatMap(([run, files]) => {
    const units = unitsOfRun.get(run);
    return units ? [runSummary(run, files, units, mixed.has(run))] : [];
  });
  const sound = runs.filter(run => !run.mixed);
  const blind = sound.filter(run => hidesCommunication(unitsOfRun.get(run.run)!));
  const comparable = sound.filter(run => !blind.includes(run));
  const ranks = comparable.flatMap(run => rankRows(run, unitsOfRun.get(run.run)!, filesOfRun.get(run.run)!));
  ranks.sort((a, b) => b.aboveMedianShare - a.aboveMedianShare || byText(a.path, b.path));
  return {
    data,
    problems: [...data.files.problems, ...blind.map(graphBlocks)],
    runs: inTime(runs),
    ranks,
    nodes: nodeRows(ranks),
    configurations: configurationRows(sound),
    histories: await historiesOf(lake, sound),
    findings: fleetFindings(data, inTime(runs)),
  };
}

/** Then what a rank needs itself cannot be told from its waiting for others. */
const hidesCommunication = (units: readonly UnitSums[]): boolean =>
  units.length > 1 && units.some(({ graphReplayNs }) => graphReplayNs > 0);

const graphBlocks = ({ run }: RunSummary): RunProblem => ({
  run,
  kind: 'graph-blocks',
  text: 'graph replays were recorded as blocks, which hide communication: ranks are not compared (capture with --cuda-graph-trace=node)',
});

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const own = groups.get(key(item));
    if (own) own.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

function meansOf(units: readonly UnitSums[]): UnitMeans {
  const sum = (of: (unit: UnitSums) => number) => units.reduce((total, unit) => total + of(unit), 0);
  const steps = sum(unit => unit.steps);
  const mean = (of: (unit: UnitSums) => number) => sum(of) / steps;
  return {
    steps,
    wallNs: mean(unit => unit.wallNs),
    ownNs: mean(unit => unit.wallNs - unit.communicationNs),
    computeNs: mean(unit => unit.computeNs),
    communicationNs: mean(unit => unit.communicationNs),
    copyNs: mean(unit => unit.copyNs),
    idleNs: mean(unit => unit.idleNs),
  };
}

const median = (values: readonly number[]): number => medianOf(Float64Array.from(values));

function runSummary(
  run: string,
  files: readonly LakeFile[],
  all: readonly UnitSums[],
  mixed: boolean,
): RunSummary {
  const phases = groupBy(all, ({ phase }) => phase);
  const wallOf = (units: readonly UnitSums[]) => units.reduce((sum, unit) => sum + unit.wallNs, 0);
  const [[phase, units]] = [...phases].sort((a, b) => wallOf(b[1]) - wallOf(a[1]) || byText(a[0], b[0]));
  const own = units.map(unit => meansOf([unit]).ownNs);
  const spans = files.flatMap(file => recordedTime(file) ?? []);
  const isTimed = spans.length === files.length;
  return {
    ...{ run, phase: phase as Phase, mixed, ...meansOf(units) },
    startUtcNs: isTimed ? Math.min(...spans.map(({ from }) => from)) : null,
    configuration: configurationOf(files, units.length),
    files: files.length,
    units: units.length,
    nodes: new Set(files.flatMap(({ host }) => host ?? [])).size,
    spread: units.length > 1 && !hidesCommunication(all) ? Math.max(...own) / median(own) : null,
    requests: meanWhereKnown(units.map(unit => unit.requests)),
    tokens: meanWhereKnown(units.map(unit => unit.tokens)),
  };
}

function meanWhereKnown(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** What runs must share to be one line of a history. Not stated is not the same as equal: it is named so. */
function configurationOf(files: readonly LakeFile[], units: number): string {
  const [first] = files;
  const parts = [
    first.model ?? (first.layers === null ? 'unnamed model' : `unnamed model (${first.layers} layers)`),
    ...(first.config === null ? [] : [first.config]),
    first.engine ?? 'unknown engine',
    `${units} × ${first.gpu ?? 'unnamed GPU'}`,
    profilers[first.profiler].label,
  ];
  return parts.join(' · ');
}

function rankRows(run: RunSummary, all: readonly UnitSums[], files: readonly LakeFile[]): RankRow[] {
  const units = all.filter(({ phase }) => phase === run.phase);
  if (units.length < 2) return [];
  const fileOf = new Map(files.map(file => [file.file, file]));
  const means = units.map(unit => meansOf([unit]));
  const middle = (of: (mean: UnitMeans) => number) => median(means.map(of));
  const medians = {
    own: middle(mean => mean.ownNs),
    compute: middle(mean => mean.computeNs),
    idle: middle(mean => mean.idleNs),
    copies: middle(mean => mean.copyNs),
  };
  return units.map((unit, i): RankRow => {
    const mean = means[i];
    const excess = [
      ['compute', mean.computeNs - medians.compute] as const,
      ['idle', mean.idleNs - medians.idle] as const,
      ['copies', mean.copyNs - medians.copies] as const,
    ].sort((a, b) => b[1] - a[1])[0];
    const { commonSteps, slowestEarly, slowestLate, earlySteps, comparedSteps } = unit;
    const common = commonSteps ?? 0;
    return {
      ...{ run: run.run, phase: run.phase, rank: unit.rank, device: unit.device, ...mean },
      host: fileOf.get(unit.file)?.host ?? null,
      path: fileOf.get(unit.file)?.path ?? '',
      aboveMedianNs: mean.ownNs - medians.own,
      aboveMedianShare: medians.own > 0 ? mean.ownNs / medians.own - 1 : 0,
      slowestShare: common > 0 ? (slowestEarly + slowestLate) / common : null,
      persistent:
        common >= FEWEST_STEPS &&
        slowestEarly >= MOST * earlySteps &&
        slowestLate >= MOST * (common - earlySteps),
      collectiveExcessNs: comparedSteps > 0 ? unit.collectiveExcessNs / comparedSteps : null,
      mostly: excess[1] > 0 ? excess[0] : null,
    };
  });
}

function nodeRows(ranks: readonly RankRow[]): NodeRow[] {
  const nodesOfRun = new Map(
    [...groupBy(ranks, ({ run }) => run)].map(([run, own]) => [
      run,
      // Rows come slowest first.
      { hosts: new Set(own.map(({ host }) => host)).size, slowest: own[0].host },
    ]),
  );
  const named = ranks.filter((rank): rank is RankRow & { host: string } => rank.host !== null);
  return [...groupBy(named, ({ host }) => host)]
    .map(([host, own]): NodeRow => {
      const runs = [...new Set(own.map(({ run }) => run))];
      const shared = runs.filter(run => nodesOfRun.get(run)!.hosts > 1);
      return {
        host,
        runs: runs.length,
        units: own.length,
        ofMedian: 1 + own.reduce((sum, rank) => sum + rank.aboveMedianShare, 0) / own.length,
        slowestInRuns: shared.filter(run => nodesOfRun.get(run)!.slowest === host).length,
        sharedRuns: shared.length,
      };
    })
    .sort((a, b) => b.ofMedian - a.ofMedian || byText(a.host, b.host));
}

/** Oldest first; runs without a time by name, before the others. */
const inTime = (runs: readonly RunSummary[]): RunSummary[] =>
  [...runs].sort((a, b) => (a.startUtcNs ?? 0) - (b.startUtcNs ?? 0) || compareNames(a.run, b.run));

const compareNames = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

const configurationKey = ({ configuration, phase }: RunSummary) => `${phase}|${configuration}`;

/** Means over runs, each run counting the same. */
function configurationRows(runs: readonly RunSummary[]): ConfigurationRow[] {
  return [...groupBy(runs, configurationKey).values()]
    .map((own): ConfigurationRow => {
      const mean = (of: (run: RunSummary) => number) =>
        own.reduce((sum, run) => sum + of(run), 0) / own.length;
      const latest = inTime(own).at(-1)!;
      return {
        ...{
          configuration: latest.configuration,
          phase: latest.phase,
          runs: own.length,
          latestRun: latest.run,
        },
        steps: own.reduce((sum, run) => sum + run.steps, 0),
        ...{
          wallNs: mean(run => run.wallNs),
          ownNs: mean(run => run.ownNs),
          computeNs: mean(run => run.computeNs),
        },
        ...{ communicationNs: mean(run => run.communicationNs), copyNs: mean(run => run.copyNs) },
        idleNs: mean(run => run.idleNs),
      };
    })
    .sort((a, b) => b.wallNs - a.wallNs);
}

async function historiesOf(lake: OpenLake, runs: readonly RunSummary[]): Promise<History[]> {
  const histories: History[] = [];
  for (const own of groupBy(runs, configurationKey).values()) {
    if (own.length < 2) continue;
    const ordered = inTime(own);
    const [{ configuration, phase }] = ordered;
    const points = findChangePoints(ordered.map(({ wallNs }) => wallNs));
    const edges = [0, ...points.map(({ after }) => after + 1), ordered.length];
    const changes: LevelChange[] = [];
    for (const [i, point] of points.entries()) {
      const [left, right] = [
        ordered.slice(edges[i], edges[i + 1]),
        ordered.slice(edges[i + 1], edges[i + 2]),
      ];
      const [before, after] = [left.map(({ run }) => run), right.map(({ run }) => run)];
      changes.push({
        ...{ configuration, phase, before, after, point, load: loadChanges(left, right) },
        lastBefore: ordered[point.after].run,
        firstAfter: ordered[point.after + 1].run,
        terms: await termsOfChange(lake, phase, before, after),
      });
    }
    histories.push({
      ...{ configuration, phase, runs: ordered, changes },
      tooFew: ordered.length < LEAST_RUNS,
      untimed: ordered.some(({ startUtcNs }) => startUtcNs === null),
    });
  }
  return histories.sort((a, b) => b.runs.length - a.runs.length || byText(a.configuration, b.configuration));
}

/** Steps that had more to do are not slower because of the software. */
function loadChanges(before: readonly RunSummary[], after: readonly RunSummary[]): LoadChange[] {
  return (['requests', 'tokens'] as const).flatMap(what => {
    const [from, to] = [before, after].map(runs => meanWhereKnown(runs.map(run => run[what])));
    if (from === null || to === null) return [];
    return Math.abs(to - from) > SAME_LOAD * Math.max(from, to) ? [{ what, from, to }] : [];
  });
}

function fleetFindings({ findings }: LakeData, ordered: readonly RunSummary[]): FleetFinding[] {
  const place = new Map(ordered.map(({ run }, i) => [run, i]));
  return [...groupBy(findings, ({ rule, phase }) => `${rule}|${phase}`).values()]
    .map((own): FleetFinding => {
      const inOrder = [...own].sort((a, b) => (place.get(a.run) ?? 0) - (place.get(b.run) ?? 0));
      const files = own.length;
      const costly = own.filter(row => row.costNs !== null);
      const mean = (of: (row: (typeof own)[number]) => number | null) =>
        costly.length === 0 ? null : costly.reduce((sum, row) => sum + (of(row) ?? 0), 0) / costly.length;
      const worst = [...own].sort((a, b) => (b.costNs ?? 0) - (a.costNs ?? 0))[0];
      return {
        ...{ rule: own[0].rule, phase: own[0].phase, runs: new Set(own.map(({ run }) => run)).size, files },
        ...{ costNs: mean(row => row.costNs), costShare: mean(row => row.costShare) },
        firstRun: inOrder[0].run,
        lastRun: inOrder.at(-1)!.run,
        claim: worst.claim,
      };
    })
    .sort((a, b) => (b.costNs ?? 0) * b.files - (a.costNs ?? 0) * a.files || byText(a.rule, b.rule));
}
