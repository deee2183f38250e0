/**
 * What the host did while the GPU waited for it: each piece of host-caused idle time of the budget, with the call path
 * of the launching thread at that moment. Paths sum to the budget by construction, because both are made of the same
 * pieces.
 *
 *   gpu      ▄▄▄▄.....................▄▄▄▄
 *   thread       [aten::cat][ Python ][aten::linear [cudaLaunchKernel]]
 *   pieces       └aten::cat┘└before──┘└ aten::linear └ … and its latency
 */
import { NONE } from '../../base/column.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { type IdleCause, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { forwardSpans } from '../inference/forward-spans.js';
import { gapJudge } from '../inference/idle-causes.js';
import { type SelectedWindow, selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { CallPaths, ROOT } from './call-paths.js';
import { CallTally, type NodeSums } from './call-tally.js';
import { idleCode } from './idle-code.js';
import { threadCode, type VisitCode } from './thread-code.js';
import { type StackLine, segmentAt } from './thread-stacks.js';

/** Sets of causes that findings ask for; each is counted on its own, since a call may have idle time of several. */
export type CauseSet =
  | 'all'
  | 'host-work'
  | 'host-work-and-launches'
  /** The same, inside forward passes alone or outside them alone. */
  | 'host-work-inside'
  | 'host-work-between'
  | 'host-work-and-launches-between'
  | IdleCause;

export interface HostBlockers {
  readonly paths: CallPaths;
  /** Phases with windows, and how many they have; null: outside all steps. */
  readonly windows: ReadonlyMap<Phase | null, number>;
  /** Undefined where there is no such idle time. */
  sums(phase: Phase | null, causes: CauseSet): NodeSums | undefined;
}

/** Its paths are those of the stacks of threads: further time may be added up by them. */
export const stackBlockers: Derived<HostBlockers> = {
  id: 'stack-blockers',
  reads: { apiCalls: [] },
  uses: [selection, deviceTimelines, gapJudge, stepsOf, forwardSpans, threadCode, idleCode],
  compute({ use }) {
    const { paths, explainer } = use(idleCode);
    const { explainAll } = use(gapJudge);
    const code = use(threadCode);
    const spans = use(forwardSpans);

    /** As `code.visit` into a tally, for threads of which only events are recorded: there are millions of pieces. */
    function addPlain(
      line: StackLine,
      from: number,
      to: number,
      tally: CallTally,
      kind: number,
      visitOther: VisitCode,
    ): void {
      const { start, event: events, node: nodes, thread } = line;
      let at = from;
      for (let segment = segmentAt(line, from); at < to; segment++) {
        const end = segment + 1 < start.length ? Math.min(start[segment + 1], to) : to;
        if (!(end > at)) continue;
        const event = segment < 0 ? NONE : events[segment];
        if (event === NONE) {
          const next = code.nextName(thread, line, segment);
          const node = next ? paths.child(ROOT, next.name, next.id) : ROOT;
          tally.add(kind, paths, node, end - at, next ? next.event : NONE, undefined);
        } else if (code.isPlain(nodes[event])) tally.add(kind, paths, nodes[event], end - at, event, line);
        else code.visit(thread, at, end, visitOther);
        at = end;
      }
    }

    const sums = new Map<Phase | null, CallTally>();
    const windows = new Map<Phase | null, number>();
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    // What pieces are added to; one explainer serves all windows.
    let tally = new CallTally(setsOfKind, causeSetIds.length);
    let firstKind = 0;
    const explained = explainer(
      (cause, { node, from, to, event, line }) =>
        tally.add(firstKind + cause, paths, node, to - from, event, line),
      (cause, line, from, to, visitOther) => addPlain(line, from, to, tally, firstKind + cause, visitOther),
    );
    for (const window of use(selection).windows) {
      const phase = phaseOf(window);
      windows.set(phase, (windows.get(phase) ?? 0) + 1);
      tally = sums.get(phase) ?? new CallTally(setsOfKind, causeSetIds.length);
      sums.set(phase, tally);
      const run = window.deviceRun;
      const fallback = window.lane === NONE ? NONE : (lanes[window.lane].thread as number);
      const idle = explainAll(timelines.get(window.device)!, window.start, window.end, fallback);
      const { cause, start, end } = idle;
      for (let gap = 0; gap < idle.gaps; gap++) {
        const first = idle.firstOf(gap);
        const after = idle.firstOf(gap + 1);
        // Forward passes begin and end with GPU work: no gap lies across.
        const isInside = run !== NONE && start[first] >= spans.start[run] && end[after - 1] <= spans.end[run];
        firstKind = isInside ? INSIDE : 0;
        explained.begin(start[first], idle.nextOf(gap), fallback);
        for (let piece = first; piece < after; piece++)
          explained.onCause(cause[piece], start[piece], end[piece]);
      }
    }
    return {
      paths,
      windows,
      sums: sumsOf,
    };

    function sumsOf(phase: Phase | null, causes: CauseSet): NodeSums | undefined {
      return sums.get(phase)?.sums(paths, causeSetIds.indexOf(causes));
    }

    function phaseOf(window: SelectedWindow): Phase | null {
      return window.step === NONE ? null : steps[window.step].facts.phase;
    }
  },
};

export const hostBlockers: Derived<HostBlockers> = {
  id: 'host-blockers',
  reads: {},
  uses: [stackBlockers],
  compute: ({ use }) => use(stackBlockers),
};

/** As plain values, for another thread. */
export interface PlainBlockers {
  readonly names: CallPaths['names'];
  readonly parents: CallPaths['parents'];
  readonly windows: ReadonlyMap<Phase | null, number>;
  /** By phase and set of causes. */
  readonly sums: ReadonlyMap<Phase | null, readonly (NodeSums | undefined)[]>;
}

export const plainBlockers = ({ paths, windows, sums }: HostBlockers): PlainBlockers => ({
  names: paths.names,
  parents: paths.parents,
  windows,
  sums: new Map([...windows.keys()].map(phase => [phase, causeSetIds.map(set => sums(phase, set))])),
});

export const blockersOf = ({ windows, sums, ...paths }: PlainBlockers): HostBlockers => ({
  paths: CallPaths.of(paths),
  windows,
  sums: (phase, causes) => sums.get(phase)?.[causeSetIds.indexOf(causes)],
});

function causeSets(cause: IdleCause, isInside: boolean): readonly CauseSet[] {
  const isWork = (HOST_CAUSES as readonly string[]).includes(cause);
  const sets: CauseSet[] = ['all', cause];
  if (isWork) sets.push('host-work', isInside ? 'host-work-inside' : 'host-work-between');
  if (isWork || cause === 'launch-bound') {
    sets.push('host-work-and-launches');
    if (!isInside) sets.push('host-work-and-launches-between');
  }
  return sets;
}

/** All of them: a tally counts them by their place here. */
const causeSetIds: readonly CauseSet[] = [
  'all',
  'host-work',
  'host-work-and-launches',
  'host-work-inside',
  'host-work-between',
  'host-work-and-launches-between',
  ...idleCauses.map(({ id }) => id),
];

/** Kinds of pieces: causes, then causes inside forward passes. */
const INSIDE = idleCauses.length;
const setsOfKind = [false, true].flatMap(isInside =>
  idleCauses.map(({ id }) => causeSets(id, isInside).map(set => causeSetIds.indexOf(set))),
);
