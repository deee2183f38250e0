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

/** Segments to look through for a call that says more than those that only ask. */
const LOOK_AHEAD = 64;

/** What follows a segment of a thread; undefined where nothing does. */
type NextName = (thread: number, line: StackLine, segment: number) => HostName | undefined;

export const launchedNames: Derived<NextName> = {
  id: 'launched-names',
  reads: { apiCalls: [], kernels: [] },
  uses: [threadStacks, workFamilies],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const { apiCalls: calls, kernels } = profile.tables;
    const known = new Map<string, HostName>();
    let kernelOfCall: Int32Array | undefined;
    return (thread, line, segment) => {
      const said = nextOf(thread, line, segment);
      if (said === undefined) return undefined;
      let name = known.get(said);
      if (!name) known.set(said, (name = { text: `before ${said}`, kind: 'between' }));
      return name;
    };

    function nextOf(thread: number, line: StackLine, segment: number): string | undefined {
      let asked: string | undefined;
      const end = Math.min(line.start.length, segment + 1 + LOOK_AHEAD);
      for (let next = segment + 1; next < end; next++) {
        let outer = line.event[next];
        if (outer === NONE) continue;
        while (line.parent[outer] !== NONE) outer = line.parent[outer];
        const { text, kind } = paths.names[line.node[outer]]!;
        if (kind !== 'api-call') return text;
        const kernel = kernelLaunchedAt(thread, line.start[next]);
        if (kernel !== undefined) return `the launch of ${kernel}`;
        if (!isAskingCall(text)) return text;
        asked ??= text;
      }
      return asked;
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
