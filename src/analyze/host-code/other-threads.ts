/**
 * What somebody else did while a thread waited: for the GIL its holder; for a lock, a queue or a pipe the thread that
 * ran meanwhile, of the same process if one did. Where all of them waited, the one whose own wait ended last before
 * this one did: it may have held what was waited for.
 *
 *   waits    [────── sem_wait ──────]
 *   holder   [── nanosleep ──]▒[── nanosleep ──
 *            └ meanwhile ────┘└ waking up ──┘
 */
import { NONE } from '../../base/column.js';
import { covers, type Intervals, lengthWithin } from '../../base/intervals.js';
import type { HostName } from '../../catalog/host-names.js';
import { roleOfThread } from '../../catalog/thread-roles.js';
import type { Profile } from '../../model/profile.js';
import type { ThreadCode } from './thread-code.js';
import type { ThreadStacks } from './thread-stacks.js';

/** A stretch of a wait, and the node of what ran then. */
type VisitOther = (node: number, from: number, to: number) => void;

interface OtherThreads {
  /** Visits a wait piece by piece; `node` is the wait itself, and stays where nobody was seen. */
  visit(
    thread: number,
    node: number,
    waits: 'gil' | 'other',
    from: number,
    to: number,
    visit: VisitOther,
  ): void;
}

export function otherThreads(
  profile: Profile,
  { paths, threads }: ThreadStacks,
  code: ThreadCode,
  states: (thread: number) => { readonly gilHolds: Intervals },
): OtherThreads {
  const candidates = new Map<number, readonly number[]>();
  /** Those of the same process first. */
  const othersOf = (thread: number): readonly number[] => {
    let known = candidates.get(thread);
    if (!known) {
      const own = profile.threads[thread].process;
      const others = threads.filter(
        other => other !== thread && !HELPERS.includes(roleOfThread('', profile.threads[other].name)),
      );
      known = [
        ...others.filter(other => profile.threads[other].process === own),
        ...others.filter(other => profile.threads[other].process !== own),
      ];
      candidates.set(thread, known);
    }
    return known;
  };
  return {
    visit(thread, node, waits, from, to, visit) {
      const other = waits === 'gil' ? holderOf(thread, from, to) : busiest(thread, from, to);
      const woken = other === undefined && waits === 'other' ? lastWoken(thread, from, to) : undefined;
      const ran = other ?? woken?.thread;
      if (ran === undefined) {
        visit(node, from, to);
        return;
      }
      const place = paths.child(node, nameOf(ran, thread, waits));
      const until = woken?.moment ?? to;
      code.visit(ran, from, until, piece => {
        const { from: begin, to: end } = piece;
        const isIt =
          waits === 'gil'
            ? covers(states(ran).gilHolds, begin)
            : woken
              ? piece.isSeen
              : piece.isSeen && piece.waits === undefined;
        visit(isIt ? (piece.isSeen ? paths.grafted(piece.node, place) : place) : node, begin, end);
      });
      if (to > until) visit(node, until, to);
    },
  };

  function nameOf(other: number, thread: number, waits: 'gil' | 'other'): HostName {
    const { name, tid, process } = profile.threads[other];
    const { name: program, pid } = profile.processes[process];
    const where = process === profile.threads[thread].process ? '' : ` of ${program || `process ${pid}`}`;
    const isShared = profile.threads.some(
      (known, row) => row !== other && known.process === process && known.name === name,
    );
    const role = roleOfThread(program, name);
    const more = [...(isShared ? [tid] : []), ...(role === '' ? [] : [role])].join(', ');
    const called = name === '' ? String(tid) : more === '' ? name : `${name} (${more})`;
    return {
      text: `${waits === 'gil' ? 'GIL held by' : 'meanwhile'} thread ${called}${where}`,
      kind: 'thread',
    };
  }

  function holderOf(thread: number, from: number, to: number): number | undefined {
    const { process } = profile.threads[thread];
    let [holder, most] = [undefined as number | undefined, 0];
    for (const [other, { process: its }] of profile.threads.entries()) {
      if (other === thread || its !== process) continue;
      const held = lengthWithin(states(other).gilHolds, from, to);
      if (held > most) [holder, most] = [other, held];
    }
    return holder;
  }

  function busiest(thread: number, from: number, to: number): number | undefined {
    let [found, most, process] = [undefined as number | undefined, 0, NONE as number];
    for (const other of othersOf(thread)) {
      // Another process is asked only where nobody of the same one was at work.
      if (found !== undefined && profile.threads[other].process !== process) break;
      let worked = 0;
      code.visit(other, from, to, piece => {
        if (piece.isSeen && piece.waits === undefined) worked += piece.to - piece.from;
      });
      // A moment between two waits is no work that somebody waits for.
      if (worked > Math.max(most, LEAST_WORK * (to - from)))
        [found, most, process] = [other, worked, profile.threads[other].process];
    }
    return found;
  }

  /** Of the threads of the process, the one whose wait ended last while this one waited. */
  function lastWoken(
    thread: number,
    from: number,
    to: number,
  ): { thread: number; moment: number } | undefined {
    let found: { thread: number; moment: number } | undefined;
    for (const other of othersOf(thread)) {
      if (profile.threads[other].process !== profile.threads[thread].process) continue;
      let waiting = false;
      code.visit(other, from, to, piece => {
        const isWaiting = piece.waits !== undefined;
        if (waiting && !isWaiting && piece.from > (found?.moment ?? from))
          found = { thread: other, moment: piece.from };
        waiting = isWaiting;
      });
    }
    return found;
  }
}

/** Nobody waits for them. */
const HELPERS: readonly string[] = ['profiler', 'CUDA driver'];
/** Of a wait: a thread that was at work for less did not hold it up by working. */
const LEAST_WORK = 0.1;
