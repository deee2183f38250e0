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
import { launchedNames } from './launched-names.js';
import { missingCpu } from './missing-cpu.js';
import { threadSamples } from './thread-samples.js';
import { type StackLine, threadStacks, visitStack } from './thread-stacks.js';

/** A piece of a thread's time. */
interface CodePiece {
  readonly node: number;
  /** The event it is in, with its thread; without a thread what it is known by: a sample, the next event, or NONE. */
  readonly event: number;
  readonly line: StackLine | undefined;
  /** Something was recorded in it, an event or a sample. */
  readonly isSeen: boolean;
  readonly waits: Wait | undefined;
}

export interface ThreadCode {
  /** Visits a stretch of a thread piece by piece, in order of time. */
  visit(
    thread: number,
    from: number,
    to: number,
    visit: (piece: CodePiece, from: number, to: number) => void,
  ): void;
}

export const threadCode: Derived<ThreadCode> = {
  id: 'thread-code',
  reads: { hostSamples: [] },
  uses: [threadStacks, launchedNames, cpuRuns, offCpu],
  compute({ profile, use, useIfRecorded }) {
    const { paths, names, lineOf } = use(threadStacks);
    const nextName = use(launchedNames);
    const samples = threadSamples(profile);
    const cpu = missingCpu(profile, useIfRecorded(cpuRuns), useIfRecorded(offCpu));
    return {
      visit(thread, from, to, visitPiece) {
        const line = lineOf(thread);
        const visit = (piece: CodePiece, a: number, b: number) => {
          cpu.visit(thread, a, b, (name, begin, end) => {
            if (!name) visitPiece(piece, begin, end);
            else {
              const node = paths.child(piece.node, name);
              visitPiece({ ...piece, node, isSeen: true, waits: name.waits }, begin, end);
            }
          });
        };
        visitStack(line, from, to, (event, begin, end, segment) => {
          const base = event === NONE ? ROOT : line.node[event];
          // Ranges are around much code; whatever else is recorded is the innermost there is.
          if (event !== NONE && paths.names[base]!.kind !== 'range') {
            const node = called(thread, line, event, segment) ?? placed(thread, line, event, segment);
            visit({ node, event, line, isSeen: true, waits: waitOn(line, event) }, begin, end);
            return;
          }
          samples.visit(thread, begin, end, (stack, a, b, sample) => {
            const next = event === NONE ? nextName(thread, line, segment) : undefined;
            const around = inCallers(line, segment, base);
            const place = next ? paths.child(around, next.name) : around;
            // A library that is not resolved says less than what follows.
            const isTelling = names.hasNames(stack);
            const node = stack === NONE ? place : names.below(isTelling ? base : place, stack);
            const known =
              event !== NONE
                ? { event, line }
                : { event: stack !== NONE ? sample : (next?.event ?? NONE), line: undefined };
            visit({ node, ...known, isSeen: event !== NONE || stack !== NONE, waits: undefined }, a, b);
          });
        });
      },
    };

    /** A CUDA or OS call below the Python stack that was sampled while it lasted: a thread that waits stays where it is. */
    function called(thread: number, line: StackLine, event: number, segment: number): number | undefined {
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
      return next ? paths.grafted(node, paths.child(ROOT, next.name)) : node;
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
