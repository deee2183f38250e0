/** From paths to expert loads. What is no load is handed back: it may be a profile of the same run. */
import type { LoadFile } from '../../model/expert-load.js';
import { agent } from './agent.js';
import { loadImporterFor } from './index.js';
import { joinLoads } from './join-loads.js';
import { LoadContent } from './load-content.js';
import type { LoadOptions } from './load-importer.js';

interface OpenedLoads {
  /** Of several files one: ranks added up, parts of a run one after the other. */
  readonly loads?: LoadFile;
  /** Paths no importer of loads knows. */
  readonly others: readonly string[];
}

export async function openLoads(paths: readonly string[], options: LoadOptions = {}): Promise<OpenedLoads> {
  const found: LoadFile[] = [];
  const others: string[] = [];
  try {
    const named = await countsOfHeads(paths);
    for (const path of paths) {
      if (named.has(path)) continue;
      const content = await LoadContent.open(path);
      const importer = loadImporterFor(content);
      if (!importer) {
        others.push(path);
        content.close();
        continue;
      }
      try {
        found.push(await importer.open(content, options));
      } catch (error) {
        content.close();
        throw error;
      }
    }
    return { others, ...(found.length > 0 ? { loads: joinLoads(found) } : {}) };
  } catch (error) {
    for (const loads of found) loads.close();
    throw error;
  }
}

/** `load-rank-*` matches the agent's heads and the arrays they name: an array is read once, through its head. */
async function countsOfHeads(paths: readonly string[]): Promise<Set<string>> {
  const named = new Set<string>();
  for (const path of paths) {
    const head = path.replace(/\.npy$/, '.json');
    if (head === path || !paths.includes(head)) continue;
    const content = await LoadContent.open(head);
    if (agent.recognizes(content)) named.add(path);
    content.close();
  }
  return named;
}
