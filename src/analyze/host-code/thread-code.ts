/**
 * What code a thread runs, as nodes of the call paths: the recorded stack, below ranges and where nothing is recorded
 * the nearest sample, else what follows.
 */
import { NONE } from '../../base/column.js';
import type { Wait } from '../../catalog/host-names.js';
import type { Derived } from '../analysis.js';
import { cpuRuns } from '../host/cpu-runs.js';
import { offCpu } from '../host/off-cpu.js';
import { ROOT } from './call-paths.js';
import { launchedNames, type NextName } from './launched-names.js';
import { missingCpu } from './missing-cpu.js';
import { threadSamples } from './thread-samples.js';
import { type StackLine, segmentAt, threadStacks } from './thread-stacks.js';

/** A piece of a thread's time. */
interface CodePiece {
  readonly node: number;
  /** The event it is in, with its thread; without a thread what it is known by: a sample, the next event, or NONE. */
  readonly event: number;
  readonly line: StackLine | undefined;
  /** Something was recorded in it, an event or a sample. */
  readonly isSeen: boolean;
  readonly waits: Wait | undefined;
  readonly from: number;
  readonly to: number;
}

/** `piece` is another one after the call. There are millions: moments passed one by one would each become an object. */
export type VisitCode = (piece: CodePiece) => void;

export interface ThreadCode {
  /** Visits a stretch of a thread piece by piece, in order of time. */
  visit(thread: number, from: number, to: number, visit: VisitCode): void;
  /**
   * The events of the thread, where nothing else tells what it runs: then time in an event with a plain node is that
   * node's, and time in no event is named by what follows. Undefined where samples, stacks or lost CPUs tell more.
   */
  plainLine(thread: number): StackLine | undefined;
  isPlain(node: number): boolean;
  readonly nextName: NextName;
}

type MutablePiece = { -readonly [Part in keyof CodePiece]: CodePiece[Part] };

const NO_PIECE: MutablePiece = {
  node: ROOT,
  event: NONE,
  line: undefined,
  isSeen: false,
  waits: undefined,
  from: 0.5,
  to: 0.5,
};

export const threadCode: Derived<ThreadCode> = {
  id: 'thread-code',
  reads: { hostSamples: [] },
  uses: [threadStacks, launchedNames, cpuRuns, offCpu],
  compute({ profile, use, useIfRecorded }) {
    const { paths, names, lineOf } = use(threadStacks);
    const nextName = use(launchedNames);
    const samples = threadSamples(profile);
    const cpu = missingCpu(profile, useIfRecorded(cpuRuns), useIfRecorded(offCpu));
    // One piece for all of a visit, and another one for visits in the midst of it.
    const pieces: MutablePiece[] = [];
    let depth = 0;
    /** By node; undefined: not looked at yet. */
    const plain: (boolean | undefined)[] = [];
    return {
      nextName,
      plainLine(thread) {
        const line = samples || cpu ? undefined : lineOf(thread);
        return line?.stack ? undefined : line;
      },
      isPlain(node) {
        while (plain.length <= node) plain.push(undefined);
        return (plain[node] ??= isPlain(node));
      },
      visit(thread, from, to, visitPiece) {
        const line = lineOf(thread);
        const { start } = line;
        const visit = cpu ? withoutCpu(cpu, thread, visitPiece) : visitPiece;
        pieces[depth] ??= { ...NO_PIECE };
        const piece = pieces[depth++];
        let at = from;
        for (let segment = segmentAt(line, from); at < to; segment++) {
          const end = segment + 1 < start.length ? Math.min(start[segment + 1], to) : to;
          if (end > at) {
            piece.from = at;
            piece.to = end;
            visitSegment(thread, line, segment, piece, visit);
          }
          at = Math.max(at, end);
        }
        depth--;
      },
    };

    function visitSegment(
      thread: number,
      line: StackLine,
      segment: number,
      piece: MutablePiece,
      visit: VisitCode,
    ): void {
      const event = segment < 0 ? NONE : line.event[segment];
      // Ranges are around much code; whatever else is recorded is the innermost there is.
      if (event !== NONE && paths.names[line.node[event]]!.kind !== 'range') {
        piece.node = called(thread, line, event, segment) ?? placed(thread, line, event, segment);
        piece.event = event;
        piece.line = line;
        piece.isSeen = true;
        piece.waits = waitOn(line, event);
        visit(piece);
      } else if (samples)
        samples.visit(thread, piece.from, piece.to, (stack, begin, end, sample) => {
          unnamed(thread, line, segment, piece, stack, sample);
          piece.from = begin;
          piece.to = end;
          visit(piece);
        });
      else {
        unnamed(thread, line, segment, piece, NONE, NONE);
        visit(piece);
      }
    }

    /** Time in which no call was recorded, and perhaps a sample taken. */
    function unnamed(
      thread: number,
      line: StackLine,
      segment: number,
      piece: MutablePiece,
      stack: number,
      sample: number,
    ): void {
      const event = segment < 0 ? NONE : line.event[segment];
      const base = event === NONE ? ROOT : line.node[event];
      const next = event === NONE ? nextName(thread, line, segment) : undefined;
      const around = inCallers(line, segment, base);
      const place = next ? paths.child(around, next.name, next.id) : around;
      // A library that is not resolved says less than what follows.
      piece.node = stack === NONE ? place : names.below(names.hasNames(stack) ? base : place, stack);
      piece.event = event !== NONE ? event : stack !== NONE ? sample : (next?.event ?? NONE);
      piece.line = event !== NONE ? line : undefined;
      piece.isSeen = event !== NONE || stack !== NONE;
      piece.waits = undefined;
    }

    /** Where the thread had no CPU, that is what its time is known by. */
    function withoutCpu(missing: NonNullable<typeof cpu>, thread: number, visitPiece: VisitCode): VisitCode {
      return piece =>
        missing.visit(thread, piece.from, piece.to, (name, from, to) => {
          if (!name) visitPiece({ ...piece, from, to });
          else {
            const node = paths.child(piece.node, name);
            visitPiece({ ...piece, node, isSeen: true, waits: name.waits, from, to });
          }
        });
    }

    /** A CUDA or OS call below the Python stack that was sampled while it lasted: a thread that waits stays where it is. */
    function called(thread: number, line: StackLine, event: number, segment: number): number | undefined {
      if (!samples) return undefined;
      const kind = paths.names[line.node[event]]!.kind;
      if (kind !== 'os-call' && kind !== 'api-call') return undefined;
      let outer = event;
      while (line.parent[outer] !== NONE && !isRange(line.parent[outer])) outer = line.parent[outer];
      // Functions and operators around it are recorded; so may be the stack of the call itself.
      if (
        paths.names[line.node[outer]]!.kind !== 'os-call' &&
        paths.names[line.node[outer]]!.kind !== 'api-call'
      )
        return undefined;
      if (names.isPython(line.stack?.[outer] ?? NONE)) return undefined;
      const until = line.start[segment + 1] ?? Infinity;
      const stack = samples.pythonDuring(thread, line.start[segment], until);
      if (!names.hasNames(stack)) return undefined;
      const range = line.parent[outer] === NONE ? ROOT : line.node[line.parent[outer]];
      const around = names.below(range, stack);
      return paths.grafted(line.node[event], around, range);

      function isRange(row: number): boolean {
        return paths.names[line.node[row]]!.kind === 'range';
      }
    }

    /** Between two calls whose callers are recorded, the thread is in what both have in common. */
    function inCallers(line: StackLine, segment: number, base: number): number {
      if (!line.stack) return base;
      const shared = names.common(stackNear(line, segment - 1), stackNear(line, segment + 1));
      return shared === NONE ? base : names.callers(base, shared);
    }

    function stackNear(line: StackLine, segment: number): number {
      let event = segment < 0 ? NONE : (line.event[segment] ?? NONE);
      while (event !== NONE && line.stack![event] === NONE) event = line.parent[event];
      return event === NONE ? NONE : line.stack![event];
    }

    /** What the interpreter does on its own has no caller: what follows says where it was. */
    function placed(thread: number, line: StackLine, event: number, segment: number): number {
      let outer = event;
      while (line.parent[outer] !== NONE) outer = line.parent[outer];
      const node = line.node[event];
      if (paths.names[line.node[outer]]!.kind !== 'interpreter') return node;
      const next = nextName(thread, line, segment);
      return next ? paths.grafted(node, paths.child(ROOT, next.name, next.id)) : node;
    }

    /** As `placed` and `waitOn` decide; without stacks all nodes on the way are events. */
    function isPlain(node: number): boolean {
      const path = paths.pathOf(node).map(at => paths.names[at]!);
      if (path[0].kind === 'interpreter' && path[path.length - 1].kind !== 'range') return false;
      const innermostCall = path.findLastIndex(({ kind, waits }) => waits || kind === 'api-call');
      const isWait = innermostCall >= 0 && path[innermostCall].waits !== undefined;
      return !isWait || path[path.length - 1].kind === 'range';
    }

    function waitOn(line: StackLine, event: number): Wait | undefined {
      for (let at = event; at !== NONE; at = line.parent[at]) {
        const { waits, kind } = paths.names[line.node[at]]!;
        if (waits) return waits;
        // A CUDA call waits for the GPU or the driver.
        if (kind === 'api-call') return undefined;
      }
      return undefined;
    }
  },
};
