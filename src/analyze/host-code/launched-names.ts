/**
 * A name for host time in which nothing was recorded on the thread: what comes next there. A launch is called by the
 * kernel it brings, because all launches have the same name.
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { type HostName, isAskingCall } from '../../catalog/host-names.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { workFamilies } from '../gpu/work-families.js';
import { type StackLine, threadStacks } from './thread-stacks.js';

/** What follows a segment of a thread, and the event it is; undefined where nothing does. */
type NextName = (
  thread: number,
  line: StackLine,
  segment: number,
) => { readonly name: HostName; readonly event: number } | undefined;

export const launchedNames: Derived<NextName> = {
  id: 'launched-names',
  reads: { apiCalls: [], kernels: [] },
  uses: [threadStacks, workFamilies],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const { apiCalls: calls, kernels } = profile.tables;
    const known = new Map<string, HostName>();
    const nextSegments = new Map<StackLine, Int32Array>();
    let kernelOfCall: Int32Array | undefined;
    return (thread, line, segment) => {
      const next = nextSegment(thread, line, segment + 1);
      if (next >= line.start.length) return undefined;
      const event = outermost(line, next);
      const text = saidOf(thread, line, next)!;
      let name = known.get(text);
      if (!name) {
        const { kind } = paths.names[line.node[event]]!;
        name = { text: `before ${text}`, kind: 'between', ...(kind === 'api-call' ? { isVague: true } : {}) };
        known.set(text, name);
      }
      return { name, event };
    };

    /** The first segment from here on that says something. Found once for all segments on the way to it. */
    function nextSegment(thread: number, line: StackLine, from: number): number {
      let found = nextSegments.get(line);
      if (!found) nextSegments.set(line, (found = new Int32Array(line.start.length).fill(NONE)));
      let at = from;
      while (at < found.length && found[at] === NONE && saidOf(thread, line, at) === undefined) at++;
      const next = at < found.length && found[at] !== NONE ? found[at] : at;
      found.fill(next, from, Math.min(at + 1, found.length));
      return next;
    }

    function saidOf(thread: number, line: StackLine, segment: number): string | undefined {
      if (line.event[segment] === NONE) return undefined;
      const { text, kind } = paths.names[line.node[outermost(line, segment)]]!;
      // A collection may begin anywhere, and any library opens files: neither tells what the code is for.
      if (kind === 'interpreter' || kind === 'os-call') return undefined;
      if (kind !== 'api-call') return isAskingCall(text) ? undefined : text;
      const kernel = kernelLaunchedAt(thread, line.start[segment]);
      return kernel !== undefined ? `the launch of ${kernel}` : isAskingCall(text) ? undefined : text;
    }

    function kernelLaunchedAt(thread: number, moment: number): string | undefined {
      if (!calls || !kernels) return undefined;
      kernelOfCall ??= firstKernels(calls.length);
      for (
        let call = lowerBound(calls.start as unknown as Float64Array, moment) as Row<'apiCalls'>;
        call < calls.length && calls.start[call] === moment;
        call++
      )
        if (calls.thread[call] === thread && kernelOfCall[call] !== NONE)
          return use(workFamilies).classOf(kernelOfCall[call]).shortName;
      return undefined;
    }

    /** Per call the name of the kernel it brings; a replay brings many, and its first stands for all. */
    function firstKernels(length: number): Int32Array {
      const names = new Int32Array(length).fill(NONE);
      for (let row = 0 as Row<'kernels'>; row < kernels!.length; row++) {
        const call = kernels!.launch[row];
        if (call !== NONE && names[call] === NONE) names[call] = kernels!.name[row];
      }
      return names;
    }
  },
};

function outermost({ event, parent }: StackLine, segment: number): number {
  let outer = event[segment];
  while (parent[outer] !== NONE) outer = parent[outer];
  return outer;
}
