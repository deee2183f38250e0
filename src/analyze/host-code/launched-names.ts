/**
 * A name for host time in which nothing was recorded on the thread: what comes next there. A launch is called by the
 * kernel it brings, because all launches have the same name.
 */
import { lowerBound } from '../../base/bisect.js';
import { NONE } from '../../base/column.js';
import { type HostName, isAskingCall } from '../../catalog/host-names.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { kernelClasses } from '../gpu/work-families.js';
import { launchedKernels } from './launched-kernels.js';
import { type StackLine, threadStacks } from './thread-stacks.js';

/** What follows: its name with the number that call paths have for it, and the event it is. */
interface Following {
  readonly name: HostName;
  readonly id: number;
  readonly event: number;
}

/** What follows a segment of a thread; undefined where nothing does. The answer is another one after the next question. */
export type NextName = (thread: number, line: StackLine, segment: number) => Following | undefined;

/** What follows the segments from one to another, which is the one that says it. One object per thread: there are millions. */
interface Found {
  from: number;
  to: number;
  isNamed: boolean;
  readonly next: { -readonly [Part in keyof Following]: Following[Part] };
}

interface KnownName {
  readonly name: HostName;
  readonly id: number;
}

/** Calls looked through one by one before a search. */
const NEARBY = 32;

export const launchedNames: Derived<NextName> = {
  id: 'launched-names',
  reads: { apiCalls: [] },
  uses: [threadStacks, kernelClasses, launchedKernels],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const { apiCalls: calls } = profile.tables;
    const known = new Map<string, KnownName>();
    /** By thread. */
    const lastFound: Found[] = [];
    /** By the name of a kernel. */
    const launches: KnownName[] = [];
    /** Calls are asked for in order of time. */
    let lastCall = 0;
    let kernelOfCall: Int32Array | undefined;
    return (thread, line, segment) => {
      let found = lastFound[thread];
      if (!found) {
        const next = { name: NO_NAME, id: NONE as number, event: NONE as number };
        found = { from: 1, to: 0, isNamed: false, next };
        lastFound[thread] = found;
      }
      if (segment + 1 < found.from || segment + 1 > found.to) find(found, thread, line, segment + 1);
      return found.isNamed ? found.next : undefined;
    };

    /** The first segment from here on that says something: the answer for all segments on the way to it. */
    function find(found: Found, thread: number, line: StackLine, from: number): void {
      found.from = from;
      for (let at = from; at < line.start.length; at++) {
        const said = saidOf(thread, line, at);
        if (!said) continue;
        found.to = at;
        found.isNamed = true;
        found.next.name = said.name;
        found.next.id = said.id;
        found.next.event = outermost(line, at);
        return;
      }
      found.to = Infinity;
      found.isNamed = false;
    }

    function saidOf(thread: number, line: StackLine, segment: number): KnownName | undefined {
      if (line.event[segment] === NONE) return undefined;
      const { text, kind } = paths.names[line.node[outermost(line, segment)]]!;
      // A collection may begin anywhere, and any library opens files: neither tells what the code is for.
      if (kind === 'interpreter' || kind === 'os-call') return undefined;
      const launch = kind === 'api-call' ? launchAt(thread, line.start[segment]) : undefined;
      return launch ?? (isAskingCall(text) ? undefined : named(text, kind));
    }

    function named(text: string, kind: HostName['kind']): KnownName {
      let found = known.get(text);
      if (!found) {
        const name: HostName = {
          text: `before ${text}`,
          kind: 'between',
          ...(kind === 'api-call' ? { isVague: true } : {}),
        };
        found = { name, id: paths.idOf(name) };
        known.set(text, found);
      }
      return found;
    }

    function launchAt(thread: number, moment: number): KnownName | undefined {
      if (!calls) return undefined;
      kernelOfCall ??= use(launchedKernels);
      for (let call = firstCallAt(moment); call < calls.length && calls.start[call] === moment; call++) {
        const kernel = kernelOfCall[call];
        if (calls.thread[call] === thread && kernel !== NONE)
          return (launches[kernel] ??= named(
            `the launch of ${use(kernelClasses).classOf(kernel).shortName}`,
            'api-call',
          ));
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

const NO_NAME: HostName = { text: '', kind: 'between' };

function outermost({ event, parent }: StackLine, segment: number): number {
  let outer = event[segment];
  while (parent[outer] !== NONE) outer = parent[outer];
  return outer;
}
