/**
 * Follows a folder: files are mapped once they have stopped growing. It looks again and again instead of being told,
 * because changes that other machines make to a shared folder are not reported here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MapEngine, type MapRequest, type MapResult, mapFiles } from './map-files.js';
import { type SourceFile, sourceFiles } from './source-files.js';

interface WatchOptions {
  readonly folder: string;
  readonly request: Omit<MapRequest, 'files' | 'passedOver'>;
  readonly everyMs: number;
  /** Map what is there and end. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  readonly onMapped: (result: MapResult) => Promise<void>;
}

/** A file that was written to so recently may still be growing, even at the first look. */
const SETTLED_MS = 5_000;

export async function watchFolder(options: WatchOptions, engine: MapEngine): Promise<void> {
  const { folder, request, everyMs, once, signal, onMapped } = options;
  /** By path: as it was seen last, and as it was mapped or found broken. */
  const seen = new Map<string, string>();
  const handled = new Map<string, string>();
  while (!signal.aborted) {
    const { files, passedOver } = await sourceFiles([folder]);
    const ready = files.filter(file => {
      const state = stateOf(file);
      const isSettled = seen.get(file.path) === state || Date.now() - file.mtimeMs > SETTLED_MS;
      seen.set(file.path, state);
      return isSettled && handled.get(file.path) !== state;
    });
    if (ready.length > 0) {
      const result = await mapFiles({ ...request, files: ready, passedOver }, engine, () => undefined);
      for (const file of ready) handled.set(file.path, stateOf(file));
      await onMapped(result);
    }
    if (once && files.every(file => handled.has(file.path))) return;
    await sleep(once ? Math.min(everyMs, SETTLED_MS) : everyMs, undefined, { signal }).catch(() => undefined);
  }
}

const stateOf = ({ bytes, mtimeMs }: SourceFile) => `${bytes}/${mtimeMs}`;
