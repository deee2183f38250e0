import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Static } from '../../base/document.js';
import { envelopeOf } from '../../base/envelope.js';
import { UserError } from '../../base/user-error.js';
import { recordedWith } from '../../capture/run/recorded-with.js';
import { hasDuckDb } from '../../disk/open-duckdb.js';
import { hasPlugins } from '../../plugins/install-plugin.js';
import { DEFAULT_LARGEST_DROP_BYTES, DroppedFiles } from '../../server/dropped-file.js';
import { isLoopback } from '../../server/guard.js';
import { OpenProfiles } from '../../server/open-profiles.js';
import { longNameOf, openViewed, type Told, viewedName } from '../../server/open-viewed.js';
import { SelectionSql } from '../../server/selection-sql.js';
import { startServer } from '../../server/server.js';
import { readStaticFiles } from '../../server/static-files.js';
import type { viewSchema } from '../answers-schema.js';
import { define } from '../command.js';
import { inputsOf } from '../inputs.js';
import { openBrowser } from '../open-browser.js';
import { analysisOptions } from '../options.js';
import { settingsOf } from '../profile-of.js';
import { openShareable } from '../redacted-copies.js';
import { version } from '../version.js';

/** Files of more take so long to read that the page is shown meanwhile; of less, what is wrong is said without a page. */
const LARGE_BYTES = 30e6;

/** Files that are not there count nothing: opening them says so. */
const sizeOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => {
    const found = fs.statSync(file, { throwIfNoEntry: false });
    if (!found?.isDirectory()) return sum + (found?.size ?? 0);
    return (
      sum +
      sizeOf(
        fs
          .readdirSync(file)
          .map(name => path.join(file, name))
          .filter(isFile),
      )
    );
  }, 0);
const isOnDisk = (file: string): boolean => {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  return found !== undefined && (found.isFile() || found.isDirectory());
};
const isFile = (file: string): boolean => fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;

export const view = define({
  usage: ['[FILE…] [--compare FILE]… [options]'],
  options: [
    'compare',
    'redacted',
    'port',
    'host',
    'noOpen',
    'at',
    'maxDrop',
    ...analysisOptions,
    'model',
    'gpu',
    'tp',
    'jsonLine',
  ],
  notes: [['without --max-drop', `${DEFAULT_LARGEST_DROP_BYTES / 1e9} GB`]],
  examples: [
    ['stepscope view profile.sqlite', 'open the timeline in the browser'],
    ['stepscope view rank*.json.gz', 'all ranks as one run'],
    ['stepscope view eager.sqlite --compare graph.sqlite', 'two runs side by side, step by step'],
    ["stepscope view profile.sqlite --at 'steps=3-5&panel=kernels'", 'the view that Share describes'],
    ['stepscope view', 'an empty page to drop a file onto'],
    ['stepscope view profile.sqlite --redact', 'files saved from the page are safe to share'],
    [
      'stepscope view profile.sqlite --port 8080 --no-open',
      'on a remote machine; locally run ssh -L 8080:localhost:8080 MACHINE and open the printed URL',
    ],
  ],
  async run({ values, given, output }) {
    // What can be wrong without reading a profile is said before reading one.
    const settings = settingsOf(values);
    const host = values.host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1';
    const dropped = new DroppedFiles(values.maxDrop);
    const page = readStaticFiles(fileURLToPath(new URL('../../../web/', import.meta.url)));
    const second = values.compare;
    if (second.length > 0 && given.length === 0)
      throw new UserError(
        'usage',
        'There is nothing to compare with.',
        'For example: stepscope view eager.sqlite --compare graph.sqlite',
      );
    const profiles = new OpenProfiles();
    const alike = second.length > 0 && viewedName(given) === viewedName(second);
    const isLarge = sizeOf([...given, ...second]) > LARGE_BYTES;
    const onProgress = (file: string, done: number) => output.progress(`reading ${file}`, done);
    const opened = async (files: readonly string[]) => {
      const name = alike ? longNameOf(files) : viewedName(files);
      const all = [...files, ...(await recordedWith(files))];
      const read = (isRedacted: boolean, told: Told) =>
        openShareable(all, isRedacted, output, own =>
          openViewed(own, settings, {
            ...told,
            // People come back to the same file; a redacted copy is made anew each time.
            ...(isRedacted ? {} : { cache: version() }),
            withHelp: !hasPlugins(),
            isLarge,
            onProgress(file, done) {
              onProgress(file, done);
              told.onProgress?.(file, done);
            },
          }),
        );
      // Files keep their own names in what is said of them; only the profile as a whole has another.
      return profiles.open(name, async told => ({ ...(await read(values.redacted, told)), name }), {
        files: [...files],
        // What came through a pipe is gone: it has no place to write beside, and cannot be read again.
        ...(files.every(isOnDisk)
          ? {
              ...(values.redacted ? {} : { beside: path.resolve(files[0]) }),
              openRedacted: async () => ({ ...(await read(true, {})), name }),
            }
          : {}),
      });
    };
    let begin = () => {};
    const served = new Promise<void>(resolve => {
      begin = resolve;
    });
    const opening = (async () => {
      // Large files take a while: the address comes first, and the page shows how far they are.
      if (isLarge && !values.jsonLine) await served;
      if (given.length > 0) await opened(given);
      if (second.length > 0) await opened(second);
      output.clearProgress();
    })();
    opening.catch(() => {});
    if (values.jsonLine || !isLarge) await opening;
    const ended = endOfProcess();
    const server = await startServer({
      ...{ version: version(), profiles, dropped, page, host, port: values.port },
      compare: second.length > 0 ? [1, 2] : null,
      ...(hasDuckDb() ? { sql: new SelectionSql() } : {}),
      openDropped: (file, name, told) => openViewed([file], settings, { name, ...told }),
    });
    const url = values.at === undefined ? server.url : `${server.url}#${values.at.replace(/^#/, '')}`;
    if (values.jsonLine) {
      const answer: Static<typeof viewSchema> = {
        schema: 'stepscope-view/1',
        url,
        profiles: profiles.states().map(({ id, name, status }) => ({ id, name, status })),
      };
      // One line, because whoever started it reads until the first.
      const inputs = inputsOf([...given, ...second]);
      output.out(`${JSON.stringify(envelopeOf(answer, `stepscope ${version()}`, inputs))}\n`);
    } else output.out(`Stepscope is running at ${url} — press Ctrl-C to stop\n`);
    // Who listens for others mostly sits at another machine.
    if (!values.noOpen && isLoopback(host)) openBrowser(url);
    begin();
    try {
      await opening;
    } catch (error) {
      output.clearProgress();
      // Somebody who is watching sees why on the page, and can choose another file there.
      if (!profiles.isWatched()) {
        await server.stop();
        throw error;
      }
    }
    await ended;
    await server.stop();
    // A dropped file may still be being read; nobody waits for it any more.
    if (profiles.states().some(({ status }) => status === 'opening')) process.exit(0);
    return 0;
  },
});

/** Asked to end. The second time is not caught: then it ends at once. */
function endOfProcess(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}
