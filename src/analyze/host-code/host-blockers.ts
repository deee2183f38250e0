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
import { forEachGap } from '../../base/intervals.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { causeIndex, type IdleCause, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { gpuWork } from '../gpu/gpu-work.js';
import type { VisitCause } from '../host/thread-activity.js';
import { threadStates } from '../host/thread-states.js';
import { forwardSpans } from '../inference/forward-spans.js';
import { gapJudge } from '../inference/idle-causes.js';
import { type SelectedWindow, selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { type CallPaths, ROOT } from './call-paths.js';
import { CallTally, type NodeSums } from './call-tally.js';
import { otherThreads } from './other-threads.js';
import { threadCode, type VisitCode } from './thread-code.js';
import { eventAt, type StackLine, threadStacks } from './thread-stacks.js';

/** Causes for which the host is not the reason: the GPU waited for itself, for nobody known, or for the profiler. */
const NOT_THE_HOST: readonly IdleCause[] = ['device-wait', 'unknown', 'profiler-overhead'];
export const hostCauses: readonly IdleCause[] = idleCauses
  .map(({ id }) => id)
  .filter(id => !NOT_THE_HOST.includes(id));

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
  /** The call path of each piece of a gap, as `judge` of the gap judge takes it; pieces the host did not cause are left out. */
  explainGap(gap: Gap, visit: VisitPiece): void;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly next: number;
  readonly fallback: number;
}

/** A piece of idle time: its cause, the node of the call path, and the event it is in, with its thread; without a thread what it is known by. */
type VisitPiece = (
  cause: number,
  node: number,
  from: number,
  to: number,
  event: number,
  line: StackLine | undefined,
) => void;

/** The same as an object that is used again: there are millions. */
interface IdlePiece {
  readonly node: number;
  readonly event: number;
  readonly line: StackLine | undefined;
  readonly from: number;
  readonly to: number;
}

const NO_IDLE: { -readonly [Part in keyof IdlePiece]: IdlePiece[Part] } = {
  ...{ node: ROOT, event: NONE as number, line: undefined, from: 0.5, to: 0.5 },
};

export const hostBlockers: Derived<HostBlockers> = {
  id: 'host-blockers',
  reads: { apiCalls: [] },
  uses: [
    selection,
    deviceTimelines,
    gapJudge,
    gpuWork,
    stepsOf,
    forwardSpans,
    threadStacks,
    threadCode,
    threadStates,
  ],
  compute({ profile, use }) {
    const stacks = use(threadStacks);
    const { paths } = stacks;
    const calls = profile.tables.apiCalls;
    const { launch } = use(gpuWork);
    const { explain } = use(gapJudge);
    const code = use(threadCode);
    const others = otherThreads(profile, stacks, code, use(threadStates));
    const isHost = idleCauses.map(({ id }) => hostCauses.includes(id));
    const spans = use(forwardSpans);
    const launchBound = causeIndex('launch-bound');
    const latency = paths.idOf(LATENCY);

    const explainer = (visit: (cause: number, piece: IdlePiece) => void) => {
      const idle = { ...NO_IDLE };
      // There may be millions of gaps and pieces: two functions serve all of them, and these say which one it is.
      let gapStart = 0;
      let call: Row<'apiCalls'> | typeof NONE = NONE;
      let thread: number = NONE;
      let cause = 0;
      const onCode: VisitCode = piece => {
        const { waits } = piece;
        if (!waits || waits === 'cpu' || waits === 'time') visit(cause, piece);
        else {
          const { event, line } = piece;
          others.visit(thread, piece.node, waits, piece.from, piece.to, (node, from, to) =>
            visit(cause, { node, event, line, from, to }),
          );
        }
      };
      const onCause: VisitCause = (own, begin, end) => {
        if (!isHost[own]) return;
        if (thread === NONE) {
          visit(own, { node: ROOT, event: NONE, line: undefined, from: begin, to: end });
          return;
        }
        cause = own;
        const isLaunch = own === launchBound && call !== NONE && begin >= calls!.start[call];
        const returned = isLaunch ? Math.min(Math.max(calls!.end[call as Row<'apiCalls'>], begin), end) : end;
        if (returned > begin) code.visit(thread, begin, returned, onCode);
        if (end > returned) {
          // The thread goes on with other things; what the GPU waits for is the call that has just returned.
          const line = stacks.lineOf(thread);
          const launched = Math.max(calls!.start[call as Row<'apiCalls'>], gapStart);
          const event = eventAt(line, Math.min(launched, returned));
          idle.node = paths.child(event === NONE ? ROOT : line.node[event], LATENCY, latency);
          idle.event = event;
          idle.line = line;
          idle.from = returned;
          idle.to = end;
          visit(own, idle);
        }
      };
      return (from: number, to: number, next: number, fallback: number): void => {
        gapStart = from;
        call = next === NONE ? NONE : launch[next];
        thread = call === NONE ? fallback : calls!.thread[call];
        explain(from, to, next, fallback, onCause);
      };
    };

    const sums = new Map<Phase | null, Map<CauseSet, CallTally>>();
    const windows = new Map<Phase | null, number>();
    const timelines = new Map(use(deviceTimelines).map(timeline => [timeline.device, timeline]));
    const { steps = [], lanes = [] } = use(stepsOf) ?? {};
    for (const window of use(selection).windows) {
      const phase = phaseOf(window);
      windows.set(phase, (windows.get(phase) ?? 0) + 1);
      const inForward = talliesOf(phase, true);
      const elsewhere = talliesOf(phase, false);
      const run = window.deviceRun;
      const { busy, opener } = timelines.get(window.device)!;
      const fallback = window.lane === NONE ? NONE : (lanes[window.lane].thread as number);
      let tallies = elsewhere;
      const explainInto = explainer((cause, { node, from, to, event, line }) => {
        const own = tallies[cause];
        const ns = to - from;
        for (let i = 0; i < own.length; i++) own[i].add(paths, node, ns, event, line);
      });
      forEachGap(busy, window.start, window.end, (from, to, next) => {
        // Forward passes begin and end with GPU work: no gap lies across.
        tallies = run !== NONE && from >= spans.start[run] && to <= spans.end[run] ? inForward : elsewhere;
        explainInto(from, to, next < busy.length ? opener[next] : NONE, fallback);
      });
    }
    return {
      paths,
      windows,
      sums: sumsOf,
      explainGap: (gap, visit) =>
        explainer((cause, { node, from, to, event, line }) => visit(cause, node, from, to, event, line))(
          gap.from,
          gap.to,
          gap.next,
          gap.fallback,
        ),
    };

    function sumsOf(phase: Phase | null, causes: CauseSet): NodeSums | undefined {
      const tally = sums.get(phase)?.get(causes);
      return tally && tally.selfNs.length > 0 ? tally : undefined;
    }

    /** By cause, all that count it. */
    function talliesOf(phase: Phase | null, isInside: boolean): readonly (readonly CallTally[])[] {
      let own = sums.get(phase);
      if (!own) sums.set(phase, (own = new Map()));
      return idleCauses.map(({ id }) =>
        causeSets(id, isInside).map(set => {
          let tally = own.get(set);
          if (!tally) own.set(set, (tally = new CallTally()));
          return tally;
        }),
      );
    }

    function phaseOf(window: SelectedWindow): Phase | null {
      return window.step === NONE ? null : steps[window.step].facts.phase;
    }
  },
};

const LATENCY = { text: 'launch latency', kind: 'latency' } as const;

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
