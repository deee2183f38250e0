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
import { launchedKernels } from './launched-kernels.js';
import { type StackLine, threadStacks } from './thread-stacks.js';

/** What follows a segment of a thread, and the event it is; undefined where nothing does. */
type NextName = (
  thread: number,
  line: StackLine,
  segment: number,
) => { readonly name: HostName; readonly event: number } | undefined;

/** What follows the segments from one to another, which is the one that says it. */
interface Found {
  readonly from: number;
  readonly to: number;
  readonly next: ReturnType<NextName>;
}

/** Calls looked through one by one before a search. */
const NEARBY = 32;

export const launchedNames: Derived<NextName> = {
  id: 'launched-names',
  reads: { apiCalls: [] },
  uses: [threadStacks, workFamilies, launchedKernels],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const { apiCalls: calls } = profile.tables;
    const known = new Map<string, HostName>();
    const lastFound = new Map<StackLine, Found>();
    const launchTexts: string[] = [];
    /** Calls are asked for in order of time. */
    let lastCall = 0;
    let kernelOfCall: Int32Array | undefined;
    return (thread, line, segment) => {
      let found = lastFound.get(line);
      if (!found || segment + 1 < found.from || segment + 1 > found.to)
        lastFound.set(line, (found = find(thread, line, segment + 1)));
      return found.next;
    };

    /** The first segment from here on that says something: the answer for all segments on the way to it. */
    function find(thread: number, line: StackLine, from: number): Found {
      let at = from;
      let text: string | undefined;
      while (at < line.start.length) {
        text = saidOf(thread, line, at);
        if (text !== undefined) break;
        at++;
      }
      if (text === undefined) return { from, to: Infinity, next: undefined };
      const event = outermost(line, at);
      let name = known.get(text);
      if (!name) {
        const { kind } = paths.names[line.node[event]]!;
        name = { text: `before ${text}`, kind: 'between', ...(kind === 'api-call' ? { isVague: true } : {}) };
        known.set(text, name);
      }
      return { from, to: at, next: { name, event } };
    }

    function saidOf(thread: number, line: StackLine, segment: number): string | undefined {
      if (line.event[segment] === NONE) return undefined;
      const { text, kind } = paths.names[line.node[outermost(line, segment)]]!;
      // A collection may begin anywhere, and any library opens files: neither tells what the code is for.
      if (kind === 'interpreter' || kind === 'os-call') return undefined;
      if (kind !== 'api-call') return isAskingCall(text) ? undefined : text;
      return launchAt(thread, line.start[segment]) ?? (isAskingCall(text) ? undefined : text);
    }

    function launchAt(thread: number, moment: number): string | undefined {
      if (!calls) return undefined;
      kernelOfCall ??= use(launchedKernels);
      for (let call = firstCallAt(moment); call < calls.length && calls.start[call] === moment; call++) {
        const kernel = kernelOfCall[call];
        if (calls.thread[call] === thread && kernel !== NONE)
          return (launchTexts[kernel] ??= `the launch of ${use(workFamilies).classOf(kernel).shortName}`);
      }
      return undefined;
    }

    /** The first call that begins no earlier. */
    function firstCallAt(moment: number): Row<'apiCalls'> {
      const starts = calls!.start as unknown as Float64Array;
      const near = Math.min(lastCall + NEARBY, starts.length);
      if (!(starts[lastCall] < moment && starts[near - 1] >= moment)) lastCall = lowerBound(starts, moment);
      else while (starts[lastCall] < moment) lastCall++;
      const found = lastCall;
      lastCall = Math.min(lastCall, starts.length - 1);
      return found as Row<'apiCalls'>;
    }
  },
};

function outermost({ event, parent }: StackLine, segment: number): number {
  let outer = event[segment];
  while (parent[outer] !== NONE) outer = parent[outer];
  return outer;
}
