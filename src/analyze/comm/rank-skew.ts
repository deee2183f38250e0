/**
 * Which rank the others wait for, and why. In collectives, where they could be matched: by who arrives last. At the start
 * of steps in any case, by when GPU work starts: hosts run ahead of their GPUs, and the first host start of a capture is
 * when its profiler began.
 */
import { NONE } from '../../base/column.js';
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { CollectiveKind } from '../../catalog/messages.js';
import type { ProcessGroup } from '../../model/profile.js';
import { medianOf } from '../../stats/summary.js';
import type { Analysis, AnalysisResult, Json } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { workFamilies } from '../gpu/work-families.js';
import { type IterationRow, iterations } from '../inference/iterations.js';
import { windowBudgets } from '../inference/step-budget.js';
import { stepsOf } from '../inference/steps.js';
import { rowsTable } from '../rows-table.js';
import { type CollectiveWaits, type MatchProblem, rankMatching } from './collective-waits.js';
import { commonAxis } from './common-axis.js';
import { describeMatching } from './describe-ranks.js';
import { roleOfGroup } from './group-role.js';
import { type LateArrival, lateArrivals } from './late-arrivals.js';
import { lateCauseLabel, mainCause } from './late-words.js';
import { matchProblemWords } from './not-matched.js';
import { rankPace } from './rank-pace.js';
import { type Straggler, stragglerIn } from './straggler.js';

const fields = {
  key: keyField,
  rank: maybe(field.id('Rank', 'of the process')),
  device: maybe(field.id('Device', 'CUDA device number', { priority: -1 })),
  waitingNs: maybe(
    field.nsMean('Waiting', 'mean per step in matched collectives, until the last rank arrives'),
  ),
  transferringNs: maybe(
    field.nsMean('Transferring', 'mean per step in matched collectives, after the last rank arrived'),
  ),
  lastArrivals: maybe(field.count('Last', 'matched collectives in which it arrived last')),
  othersWaitNs: maybe(
    field.nsMean('Others wait', 'mean per step that another rank waits while this one is last'),
  ),
  why: maybe(field.text('Why late', 'what it did more than the others before it arrived last')),
  lateKernel: maybe(field.text('Kernel', 'the kernel that took longer than on the others', { priority: -1 })),
  pace: maybe(
    field.mean('Pace', 'time of its kernels divided by the median of the ranks, median over kernel names', {
      priority: -2,
    }),
  ),
  steps: field.count('Steps', 'selected steps the rank ran', { priority: -2 }),
  startLateNs: maybe(field.nsMean('Start delay', 'median delay of GPU start behind the first rank')),
  endLateNs: maybe(
    field.nsMean('End delay', 'median delay of GPU end behind the first rank', { priority: -1 }),
  ),
  lastToStart: field.count('Last to start', 'steps this rank was last to start', { priority: -1 }),
  gpuBusyNs: maybe(field.nsMean('GPU busy', 'median of its GPU work per step')),
  communicationNs: maybe(field.nsMean('Comm', 'mean communication per step, exposed and hidden')),
  idleNs: maybe(field.nsMean('Idle', 'mean per step', { priority: -1 })),
};

/** From this part of the waiting on, what the first collective adds is said. */
const NOTABLE_FIRST = 0.25;

type RankRow = RowOf<typeof fields>;

interface RankResult extends AnalysisResult<RankRow> {
  /** Not in the document: what the maps are drawn from. */
  readonly arrivals: readonly LateArrival[];
  readonly waits: CollectiveWaits | undefined;
  readonly straggler: Straggler | undefined;
  /** Selected steps with matched collectives, or that several ranks ran; at least 1. */
  readonly perSteps: number;
  /** The number of each step. */
  readonly iterations: readonly number[];
}

export const rankSkew: Analysis<RankRow, RankResult> = {
  id: 'rank-skew',
  title: 'Ranks',
  question: 'Which rank do the others wait for, and why?',
  reads: {},
  uses: [iterations, windowBudgets, stepsOf, lateArrivals, rankPace, workFamilies, commonAxis, rankMatching],
  fields,
  headline: {
    label: 'ranks',
    text({ rows, summary = {}, waits, straggler }) {
      const spread = (ns: unknown) => formatDuration(typeof ns === 'number' ? ns : Number.NaN);
      const who = plural(rows.length, 'rank');
      if (waits) {
        const per = summary.matchedSteps === 0 ? 'in total' : 'per step';
        const late = straggler
          ? `; rank ${straggler.rank ?? '?'} causes ${formatShare(straggler.share)} of it`
          : '';
        const first = summary.firstWaitNs as number;
        const began =
          first > NOTABLE_FIRST * (summary.waitingNs as number)
            ? `, ${spread(first)} of it in the first recorded collective, which includes the start of the profilers`
            : late;
        return `${who}; each waits ${spread(summary.waitingNs)} ${per} for the last to arrive${began}`;
      }
      const why = matchProblemWords(summary.problem as MatchProblem | null);
      if (summary.medianStartSkewNs === null) return `${who}; ${why}`;
      const starts = `GPU starts spread ${spread(summary.medianStartSkewNs)}`;
      return `${who}; ${starts}, GPU ends ${spread(summary.medianEndSkewNs)} (medians)`;
    },
  },
  describe: ({ rows, waits, arrivals, iterations: numbers }) => [
    rowsTable(rankSkew, rows),
    ...describeMatching(waits, arrivals, step => numbers[step] ?? step),
  ],
  compute({ profile, use, useIfRecorded }) {
    const { lanes, steps } = use(stepsOf) ?? { lanes: [], steps: [] };
    const all = (useIfRecorded(iterations)?.rows ?? [])
      .map((row, i) => ({ row, lanesOfRuns: steps[i].runs.map(({ lane }) => lane) }))
      .filter(({ row }) => row.selected && row.ranks > 1);
    const late = use(lateArrivals);
    if (all.length === 0 && !late)
      throw new NotRecorded('several ranks', 'give the files of all ranks: stepscope analyze rank*.json.gz');
    const budgets = useIfRecorded(windowBudgets) ?? [];
    const pace = use(rankPace);
    const axis = use(commonAxis);
    const arrivals = late?.arrivals ?? [];
    const seen = new Set(arrivals.flatMap(({ step }) => (step === NONE ? [] : [step])));
    const perSteps = Math.max(1, seen.size || all.length);
    const perRank = sumsPerRank();
    const rows = ranksOf().map(({ rank, lanes: mineOf, place }, index): RankRow => {
      const own = all.flatMap(({ row, lanesOfRuns }) => {
        const at = lanesOfRuns.findIndex(lane => mineOf.includes(lane));
        return at < 0 ? [] : [{ row, run: row.runs[at], lanesOfRuns }];
      });
      const behindFirst = (of: (run: IterationRow['runs'][number]) => number | null) =>
        own.flatMap(({ row, run, lanesOfRuns }) => {
          const moments = row.runs.map((other, r) => {
            const moment = of(other);
            return moment === null ? Infinity : axis.at(lanes[lanesOfRuns[r]].process, moment);
          });
          const mine = moments[row.runs.indexOf(run)];
          return mine === Infinity ? [] : [mine - least(moments)];
        });
      const starts = behindFirst(run => run.gpuStartNs);
      const ends = behindFirst(run => run.gpuEndNs);
      const median = (values: readonly number[]) =>
        values.length > 0 ? medianOf(Float64Array.from(values)) : null;
      const mine = budgets.filter(({ window }) => mineOf.includes(window.lane));
      const mean = (of: (budget: (typeof mine)[number]['budget']) => number) =>
        mine.length > 0 ? mine.reduce((sum, { budget }) => sum + of(budget), 0) / mine.length : null;
      const last = arrivals.filter(arrival => placeOf(arrival.rank) === place);
      const main = place < 0 ? undefined : mainCause(last);
      return {
        key: `rank:${rank ?? index}`,
        rank,
        device: own[0]?.run.device ?? null,
        steps: own.length,
        startLateNs: median(starts),
        endLateNs: median(ends),
        lastToStart: own.filter(
          ({ row, run, lanesOfRuns }) =>
            run.gpuStartNs !== null &&
            row.runs.every(
              (other, r) =>
                axis.at(lanes[lanesOfRuns[r]].process, other.gpuStartNs ?? -Infinity) <=
                axis.at(lanes[lanesOfRuns[row.runs.indexOf(run)]].process, run.gpuStartNs!),
            ),
        ).length,
        gpuBusyNs: median(own.map(({ run }) => run.gpuBusyNs)),
        communicationNs: mean(budget => budget.communicationExposedNs + budget.communicationHiddenNs),
        idleNs: mean(budget => budget.idleNs),
        waitingNs: place < 0 ? null : perRank.waiting[place] / perSteps,
        transferringNs: place < 0 ? null : perRank.transferring[place] / perSteps,
        lastArrivals: place < 0 ? null : last.length,
        othersWaitNs: place < 0 ? null : last.reduce((sum, { waitedNs }) => sum + waitedNs, 0) / perSteps,
        why: main ? lateCauseLabel(main.cause) : null,
        lateKernel: !main || main.kernel === NONE ? null : use(workFamilies).classOf(main.kernel).shortName,
        pace: place < 0 ? null : paceOf(place),
      };
    });
    const skews = all.flatMap(({ row }) => row.startSkewNs ?? []);
    const endSkews = all.flatMap(({ row }) => row.endSkewNs ?? []);
    const straggler =
      late &&
      stragglerIn(
        late.waits,
        arrivals.filter(arrival => !arrival.first),
      );
    const ranked = rows.filter(row => row.waitingNs !== null);
    return {
      rows,
      arrivals,
      waits: late?.waits,
      straggler,
      perSteps,
      iterations: steps.map(({ iteration }) => iteration),
      summary: {
        steps: all.length,
        matchedSteps: seen.size,
        medianStartSkewNs: skews.length > 0 ? medianOf(Float64Array.from(skews)) : null,
        medianEndSkewNs: endSkews.length > 0 ? medianOf(Float64Array.from(endSkews)) : null,
        clock: profile.clock,
        waitingNs: late ? ranked.reduce((sum, row) => sum + row.waitingNs!, 0) / ranked.length : null,
        transferringNs: late
          ? ranked.reduce((sum, row) => sum + row.transferringNs!, 0) / ranked.length
          : null,
        firstWaitNs: late ? firstWaitNs() : null,
        straggler: straggler ? { ...straggler } : null,
        alignment: late ? alignmentJson(late.waits, profile.capture.files) : null,
        groups: late ? groupsJson(late.waits, profile.capture.distributed?.groups ?? []) : null,
        matchedCalls: late?.waits.matched ?? null,
        calls: late?.waits.total ?? null,
        problem: use(rankMatching).problem ?? null,
      },
    };

    /** Each rank once, however many files it has: its lanes, and its place among those that communicate. */
    function ranksOf(): { rank: number | null; lanes: number[]; place: number }[] {
      const found: { rank: number | null; lanes: number[]; place: number; process: number }[] = [];
      const add = (process: number, lane: number, place: number) => {
        const rank = profile.processes[process].rank ?? null;
        const known = found.find(own => (rank === null ? own.process === process : own.rank === rank));
        if (!known) found.push({ rank, process, lanes: lane < 0 ? [] : [lane], place });
        else {
          if (lane >= 0) known.lanes.push(lane);
          if (place >= 0) known.place = place;
        }
      };
      lanes.forEach(({ process }, lane) => {
        add(process, lane, -1);
      });
      for (const { process, place } of late?.waits.calls.ranks ?? []) add(process, -1, place);
      return found;
    }

    function placeOf(rank: number): number {
      return late!.waits.calls.ranks[rank].place;
    }

    function paceOf(place: number): number | null {
      const known = pace.find((own, rank) => placeOf(rank) === place && !Number.isNaN(own));
      return known ?? null;
    }

    /** Mean over ranks and steps: waits that include when profilers began. */
    function firstWaitNs(): number {
      const first = arrivals.filter(arrival => arrival.first);
      const sum = first.reduce(
        (ns, { collective: { calls }, waitedNs }) => ns + waitedNs * (calls.length - 1),
        0,
      );
      return sum / ranked.length / perSteps;
    }

    /** Of the selected collectives, by place of the rank. */
    function sumsPerRank() {
      const count = late?.waits.calls.places.length ?? 0;
      const waiting = new Float64Array(count);
      const transferring = new Float64Array(count);
      for (const { collective } of arrivals)
        for (const call of collective.calls) {
          const place = placeOf(late!.waits.calls.rank[call]);
          waiting[place] += late!.waits.waitingNs[call];
          transferring[place] += late!.waits.transferringNs[call];
        }
      return { waiting, transferring };
    }
  },
};

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b), Infinity);

function alignmentJson({ alignment }: CollectiveWaits, files: readonly string[]): Json {
  return {
    status: alignment.status,
    clocks: alignment.clocks.map(
      ({ clock, offsetNs, drift, corrected, uncertaintyNs, boundNs, moments }, i) => ({
        file: files[clock] ?? files[0],
        reference: i === 0,
        offsetNs,
        driftPpm: drift * 1e6,
        corrected,
        uncertaintyNs,
        boundNs,
        collectives: moments,
      }),
    ),
  };
}

function groupsJson(waits: CollectiveWaits, stated: readonly ProcessGroup[]): Json {
  const { groups, calls, collectives } = waits;
  const kinds = groups.map(() => new Set<CollectiveKind>());
  for (const { key, group } of collectives) kinds[group].add(calls.keys[key].kind);
  return groups.map(({ name, ranks, size }, i) => {
    const numbers = ranks.map(rank => calls.ranks[rank].rank ?? rank);
    const role = roleOfGroup(name, numbers, kinds[i], stated);
    return {
      name: name || null,
      ranks: numbers,
      size,
      role: role?.role ?? null,
      roleInferred: role?.inferred ?? null,
    };
  });
}
