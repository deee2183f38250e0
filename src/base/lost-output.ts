/**
 * Whoever reads our output may go away: `| head` has seen enough, a terminal was closed. A command that only prints can
 * end then; one that has started something has to stop it first, and says so here.
 */
const listeners = new Set<() => void>();

export function onLostOutput(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Codes of a pipe without a reader and of a terminal that is gone. */
const isLoss = (error: Error): boolean =>
  ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'].includes((error as NodeJS.ErrnoException).code ?? '');

/** To be called once, before anything is written. `onRefused`: the output is there, but takes no more (a full disk). */
export function watchOutput(onRefused: (error: Error) => void): void {
  let told = false;
  const lost = (error: Error, mayEnd: boolean) => {
    if (!isLoss(error)) return onRefused(error);
    if (listeners.size === 0) {
      if (mayEnd) process.exit(0);
      return;
    }
    if (!told) for (const listener of listeners) listener();
    told = true;
  };
  process.stdout.on('error', error => lost(error, true));
  process.stderr.on('error', error => lost(error, false));
}
