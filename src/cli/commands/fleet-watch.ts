import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { countOf, type MapResult } from '../../fleet/map-files.js';
import { watchFolder } from '../../fleet/watch-folder.js';
import { define } from '../command.js';
import { localEngine } from '../fleet-engine.js';
import type { Output } from '../output.js';
import { version } from '../version.js';

export const fleetWatch = define({
  usage: ['FOLDER --out LAKE [options]'],
  options: ['lake', 'every', 'once', 'runName', 'label', 'workers', 'memory'],
  notes: [
    ['FOLDER', 'searched with its subfolders; a file is mapped when it has stopped growing'],
    ['end', 'Ctrl-C; what was mapped stays, and the next watch or map continues'],
  ],
  examples: [
    ['stepscope fleet watch /shared/nightly --out /shared/lake', 'map every run as it arrives'],
    ['stepscope fleet watch /shared/nightly --out /shared/lake --once', 'the same from cron'],
  ],
  async run({ values, given, output }) {
    const { lake } = values;
    if (given.length !== 1 || lake === undefined)
      throw new UserError(
        'usage',
        lake === undefined ? 'No lake was given.' : `Expected one folder; ${given.length} given.`,
        'For example: stepscope fleet watch nightly --out lake',
      );
    if (!fs.statSync(given[0], { throwIfNoEntry: false })?.isDirectory())
      throw new UserError(
        'not-found',
        `${given[0]} is not a folder.`,
        'Give the folder that runs are written to.',
      );
    const abort = new AbortController();
    const stop = () => abort.abort();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
    const options = {
      folder: given[0],
      request: {
        lake: path.resolve(lake),
        ...(values.runName === undefined ? {} : { run: values.runName }),
        labels: Object.fromEntries(values.label),
        tool: `stepscope ${version()}`,
      },
      everyMs: values.every / 1e6,
      once: values.once,
      signal: abort.signal,
      onMapped: async (result: MapResult) => tell(result, output),
    };
    await watchFolder(options, localEngine(values));
    return 0;
  },
});

function tell(result: MapResult, output: Output): void {
  const [mapped, already] = [countOf(result, 'mapped'), countOf(result, 'already')];
  if (mapped + already > 0) output.out(`${mapped} mapped, ${already} already in the lake\n`);
  for (const outcome of result.outcomes)
    if (outcome.status === 'broken') output.err(`broken: ${outcome.broken.message} ${outcome.broken.hint}\n`);
}
