/**
 * What the host did in a piece of idle time: the call path of the thread that launched what the GPU waited for.
 *
 *   gpu      ▄▄▄▄.....................▄▄▄▄
 *   thread       [aten::cat][ Python ][aten::linear [cudaLaunchKernel]]
 *   pieces       └aten::cat┘└before──┘└ aten::linear └ … and its latency
 */
import { NONE } from '../../base/column.js';
import { causeIndex, type IdleCause, idleCauses } from '../../catalog/idle-causes.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { gpuWork } from '../gpu/gpu-work.js';
import { threadStates } from '../host/thread-states.js';
import { gapJudge } from '../inference/idle-causes.js';
import { type CallPaths, ROOT } from './call-paths.js';
import { otherThreads } from './other-threads.js';
import { threadCode, type VisitCode } from './thread-code.js';
import { eventAt, type StackLine, threadStacks } from './thread-stacks.js';

/** Causes for which the host is not the reason: the GPU waited for itself, for nobody known, or for the profiler. */
const NOT_THE_HOST: readonly IdleCause[] = ['device-wait', 'unknown', 'profiler-overhead'];
export const hostCauses: readonly IdleCause[] = idleCauses
  .map(({ id }) => id)
  .filter(id => !NOT_THE_HOST.includes(id));

/** A piece of idle time: the node of its call path, and the event it is in, with its thread; without a thread what it is known by. */
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

type VisitPlain = (cause: number, line: StackLine, from: number, to: number, visitOther: VisitCode) => void;

/** One gap at a time: `begin`, then its pieces in order. */
interface GapExplainer {
  begin(from: number, next: number, fallback: number): void;
  onCause(cause: number, from: number, to: number): void;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly next: number;
  readonly fallback: number;
}

interface IdleCode {
  readonly paths: CallPaths;
  /**
   * Visits the pieces that the host caused; a piece is another one after the call. `visitPlain` gets stretches of threads of
   * which only events are recorded, whole.
   */
  explainer(visit: (cause: number, piece: IdlePiece) => void, visitPlain?: VisitPlain): GapExplainer;
  /** A gap as `explain` of the gap judge takes it. */
  explainGap(gap: Gap, visit: (piece: IdlePiece) => void): void;
}

export const idleCode: Derived<IdleCode> = {
  id: 'idle-code',
  reads: { apiCalls: [] },
  uses: [gapJudge, gpuWork, threadStacks, threadCode, threadStates],
  compute({ profile, use }) {
    const stacks = use(threadStacks);
    const { paths } = stacks;
    const calls = profile.tables.apiCalls;
    const { launch } = use(gpuWork);
    const { explain } = use(gapJudge);
    const code = use(threadCode);
    const others = otherThreads(profile, stacks, code, use(threadStates));
    const isHost = idleCauses.map(({ id }) => hostCauses.includes(id));
    const launchBound = causeIndex('launch-bound');
    const latency = paths.idOf(LATENCY);
    const latencyBelow: number[] = [];
    /** The node of the latency of a launch by an event with this node. */
    function latencyOf(node: number): number {
      while (latencyBelow.length <= node) latencyBelow.push(NONE);
      if (latencyBelow[node] === NONE) latencyBelow[node] = paths.child(node, LATENCY, latency);
      return latencyBelow[node];
    }

    const explainer: IdleCode['explainer'] = (visit, visitPlain) => {
      const idle = { ...NO_IDLE };
      // There may be millions of gaps and pieces: two functions serve all of them, and these say which one it is.
      let gapStart = 0;
      let call: Row<'apiCalls'> | typeof NONE = NONE;
      let thread: number = NONE;
      /** Of the thread that was asked about last: most gaps have the same. */
      let lineThread: number = NONE;
      let line: StackLine | undefined;
      let plainLine: StackLine | undefined;
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
      const onCause = (own: number, begin: number, end: number): void => {
        if (!isHost[own]) return;
        if (thread === NONE) {
          visit(own, { node: ROOT, event: NONE, line: undefined, from: begin, to: end });
          return;
        }
        if (thread !== lineThread) {
          lineThread = thread;
          line = stacks.lineOf(thread);
          plainLine = visitPlain && code.plainLine(thread);
        }
        cause = own;
        const isLaunch = own === launchBound && call !== NONE && begin >= calls!.start[call];
        const returned = isLaunch ? Math.min(Math.max(calls!.end[call as Row<'apiCalls'>], begin), end) : end;
        if (returned > begin) {
          if (plainLine) visitPlain!(own, plainLine, begin, returned, onCode);
          else code.visit(thread, begin, returned, onCode);
        }
        if (end > returned) {
          // The thread goes on with other things; what the GPU waits for is the call that has just returned.
          const launched = Math.max(calls!.start[call as Row<'apiCalls'>], gapStart);
          const event = eventAt(line!, Math.min(launched, returned));
          idle.node = latencyOf(event === NONE ? ROOT : line!.node[event]);
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

    return {
      paths,
      explainer,
      explainGap({ from, to, next, fallback }, visit) {
        const explained = explainer((_, piece) => visit(piece));
        explained.begin(from, next, fallback);
        explain(from, to, next, fallback, explained.onCause);
      },
    };
  },
};

const LATENCY = { text: 'launch latency', kind: 'latency' } as const;
