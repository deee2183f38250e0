/**
 * What a capture wrote next to a profile: the agent's file, lines of the engine's log, the result of its load. The
 * recipe names them. Only files in its own folder count, and only with the content that the recipe recorded.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { recipesNaming, sha256Of } from './write-recipe.js';

const COMPANIONS: ReadonlySet<string | undefined> = new Set(['agent-sidecar', 'engine-log', 'load-result']);
const RANK = /-rank-(\d{1,5})\.agent\.json$/;
const RANK_OF_REPORT = /(?:^|[^a-z])rank[-_.]?(\d{1,5})(?![0-9a-z])/i;
/** They are read whole; the largest the agent writes is half of this. */
const MOST_BYTES = 128 * 1024 * 1024;

/** Paths to open together with these profiles, without those that were given. */
export async function recordedWith(given: readonly string[]): Promise<string[]> {
  const known = new Set(given.map(file => path.resolve(file)));
  const found: string[] = [];
  for (const profile of given) {
    const folder = path.dirname(profile);
    for (const { outputs } of recipesNaming(profile)) {
      const sidecars = outputs.filter(({ kind }) => kind === 'agent-sidecar');
      const ranks = new Set(sidecars.flatMap(({ name }) => rankOf(RANK, name) ?? []));
      for (const { name, bytes, sha256, kind } of outputs) {
        const file = path.join(folder, name);
        if (!COMPANIONS.has(kind) || known.has(path.resolve(file))) continue;
        // Of several ranks, the one whose profile this is.
        const rank = kind === 'agent-sidecar' ? rankOf(RANK, name) : undefined;
        if (rank !== undefined && ranks.size > 1 && rank !== rankOf(RANK_OF_REPORT, profile)) continue;
        if (!isFileOf(file, bytes) || (await sha256Of(file)) !== sha256) continue;
        known.add(path.resolve(file));
        found.push(file);
      }
    }
  }
  return found;
}

const rankOf = (pattern: RegExp, name: string) => pattern.exec(path.basename(name))?.[1];

function isFileOf(file: string, bytes: number): boolean {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === bytes && bytes <= MOST_BYTES;
}
