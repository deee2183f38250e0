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
import { causeIndex, type IdleCause, idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { deviceTimelines } from '../gpu/device-timeline.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { threadStates } from '../host/thread-states.js';
import { forwardSpans } from '../inference/forward-spans.js';
import { gapJudge } from '../inference/idle-causes.js';
import { type SelectedWindow, selection } from '../inference/selection.js';
import { stepsOf } from '../inference/steps.js';
import { type CallPaths, ROOT } from './call-paths.js';
import { CallTally, type NodeSums } from './call-tally.js';
import { otherThreads } from './other-threads.js';
import { threadCode, type VisitCode } from './thread-code.js';
import { eventAt, type StackLine, segmentAt, threadStacks } from './thread-stacks.js';

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
    const { explain, explainAll } = use(gapJudge);
    const code = use(threadCode);
    const others = otherThreads(profile, stacks, code, use(threadStates));
    const isHost = idleCauses.map(({ id }) => hostCauses.includes(id));
    const spans = use(forwardSpans);
    const launchBound = causeIndex('launch-bound');
    const latency = paths.idOf(LATENCY);

    const explainer = (
      visit: (cause: number, piece: IdlePiece) => void,
      visitPlain?: (cause: number, line: StackLine, from: number, to: number, visitOther: VisitCode) => void,
    ) => {
      const idle = { ...NO_IDLE };
      // There may be millions of gaps and pieces: two functions serve all of them, and these say which one it is.
      let gapStart = 0;
      let call: Row<'apiCalls'> | typeof NONE = NONE;
      let thread: number = NONE;
      let cause = 0;
      const onCode: VisitCode = piece => {
        const { waits } = piece;
        if (!waits || waits === 'cpu') visit(cause, piece);
        else {
          const { event, line } = piece;
          others.visit(thread, piece.node, waits, piece.from, piece.to, (node, from, to) =>
            visit(cause, { node, event, line, from, to }),
          );
        }
      };
      const onCause = (own: number, begin: number, end: number): void => {
        if (!isHost[own]) return;
        if (thread === NONE) {
          visit(own, { node: ROOT, event: NONE, line: undefined, from: begin, to: end });
          return;
        }
        cause = own;
        const isLaunch = own === launchBound && call !== NONE && begin >= calls!.start[call];
        const returned = isLaunch ? Math.min(Math.max(calls!.end[call as Row<'apiCalls'>], begin), end) : end;
        if (returned > begin) {
          const line = visitPlain && code.plainLine(thread);
          if (line) visitPlain!(own, line, begin, returned, onCode);
          else code.visit(thread, begin, returned, onCode);
        }
        if (end > returned) {
          // The thread goes on with other things; what the GPU waits for is the call that has just returned.
          const line = stacks.lineOf(thread);
          const launched = Math.max(calls!.start[call as Row<'apiCalls'>], gapStart);
          const event = eventAt(line, Math.min(launched, returned));
          idle.node = latencyOf(event === NONE ? ROOT : line.node[event]);
          idle.event = event;
          idle.line = line;
          idle.from = returned;
          idle.to = end;
          visit(own, idle);
        }
      };
      return {
        begin(from: number, next: number, fallback: number): void {
          gapStart = from;
          call = next === NONE ? NONE : launch[next];
          thread = call === NONE ? fallback : calls!.thread[call];
        },
        onCause,
      };
    };

    const latencyBelow: number[] = [];
    /** The node of the latency of a launch by an event with this node. */
    function latencyOf(node: number): number {
      while (latencyBelow.length <= node) latencyBelow.push(NONE);
      if (latencyBelow[node] === NONE) latencyBelow[node] = paths.child(node, LATENCY, latency);
      return latencyBelow[node];
    }

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
      explainGap({ from, to, next, fallback }, visit) {
        const explained = explainer((cause, { node, from, to, event, line }) =>
          visit(cause, node, from, to, event, line),
        );
        explained.begin(from, next, fallback);
        explain(from, to, next, fallback, explained.onCause);
      },
    };

    function sumsOf(phase: Phase | null, causes: CauseSet): NodeSums | undefined {
      return sums.get(phase)?.sums(causeSetIds.indexOf(causes));
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
