/**
 * What somebody else did while a thread waited: for the GIL its holder, for a lock, a queue or a pipe the thread that
 * ran meanwhile, of the same process if one did. Only time in which that thread was seen at work counts.
 */

import { NONE } from '../../base/column.js';
import { covers, IntervalBuilder, type Intervals, lengthWithin } from '../../base/intervals.js';
import { GIL_HOLD } from '../../catalog/host-activities.js';
import type { HostName } from '../../catalog/host-names.js';
import type { Profile, Row } from '../../model/profile.js';
import { nameTest } from '../name-test.js';
import { type StackLine, type ThreadStacks, visitStack } from './thread-stacks.js';

/** A stretch of a wait, and the node of what ran then. */
type VisitOther = (node: number, from: number, to: number) => void;

interface OtherThreads {
  /** Visits a wait piece by piece; `node` is the wait itself, and stays where nobody was seen at work. */
  visit(
    thread: number,
    node: number,
    waits: 'gil' | 'other',
    from: number,
    to: number,
    visit: VisitOther,
  ): void;
}

export function otherThreads(profile: Profile, stacks: ThreadStacks): OtherThreads {
  const holds = gilHolds(profile);
  const candidates = new Map<number, readonly number[]>();
  /** Those of the same process first. */
  const othersOf = (thread: number): readonly number[] => {
    let known = candidates.get(thread);
    if (!known) {
      const own = profile.threads[thread].process;
      const others = stacks.threads.filter(other => other !== thread);
      known = [
        ...others.filter(other => profile.threads[other].process === own),
        ...others.filter(other => profile.threads[other].process !== own),
      ];
      candidates.set(thread, known);
    }
    return known;
  };
  const nameOf = (other: number, thread: number, waits: 'gil' | 'other'): HostName => {
    const { name, tid, process } = profile.threads[other];
    const { name: program, pid } = profile.processes[process];
    const where = process === profile.threads[thread].process ? '' : ` of ${program || `process ${pid}`}`;
    return {
      text: `${waits === 'gil' ? 'GIL held by' : 'meanwhile'} thread ${name || tid}${where}`,
      kind: 'thread',
    };
  };
  return {
    visit(thread, node, waits, from, to, visit) {
      const other = waits === 'gil' ? holderOf(thread, from, to) : busiest(othersOf(thread), from, to);
      if (other === undefined) {
        visit(node, from, to);
        return;
      }
      const place = stacks.paths.child(node, nameOf(other, thread, waits));
      const line = stacks.lineOf(other);
      visitStack(line, from, to, (event, begin, end) => {
        const isAtWork = waits === 'gil' ? covers(holds.get(other)!, begin) : isWorking(line, event);
        const ran = event === NONE ? place : stacks.paths.grafted(line.node[event], place);
        visit(isAtWork ? ran : node, begin, end);
      });
    },
  };

  function holderOf(thread: number, from: number, to: number): number | undefined {
    const { process } = profile.threads[thread];
    let [holder, most] = [undefined as number | undefined, 0];
    for (const [other, list] of holds) {
      if (other === thread || profile.threads[other].process !== process) continue;
      const held = lengthWithin(list, from, to);
      if (held > most) [holder, most] = [other, held];
    }
    return holder;
  }

  function busiest(others: readonly number[], from: number, to: number): number | undefined {
    let [found, most, process] = [undefined as number | undefined, 0, NONE as number];
    for (const other of others) {
      // Another process is asked only where nobody of the same one was at work.
      if (found !== undefined && profile.threads[other].process !== process) break;
      let worked = 0;
      const line = stacks.lineOf(other);
      visitStack(line, from, to, (event, begin, end) => {
        if (isWorking(line, event)) worked += end - begin;
      });
      if (worked > most) [found, most, process] = [other, worked, profile.threads[other].process];
    }
    return found;
  }

  function isWorking(line: StackLine, event: number): boolean {
    for (let at = event; at !== NONE; at = line.parent[at])
      if (stacks.paths.names[line.node[at]]!.waits) return false;
    return event !== NONE;
  }
}

/** When each thread held the GIL. */
function gilHolds(profile: Profile): ReadonlyMap<number, Intervals> {
  const { ranges } = profile.tables;
  const builders = new Map<number, IntervalBuilder>();
  const isHold = nameTest(profile, new RegExp(`^${GIL_HOLD}$`));
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const thread = ranges!.thread[row];
    if (thread === NONE || ranges!.name[row] === NONE || !isHold(ranges!.name[row])) continue;
    let builder = builders.get(thread);
    if (!builder) builders.set(thread, (builder = new IntervalBuilder()));
    builder.add(ranges!.start[row], ranges!.end[row]);
  }
  return new Map([...builders].map(([thread, builder]) => [thread, builder.finish()]));
}
