import { fileURLToPath } from 'node:url';
import { UserError } from '../../base/user-error.js';
import { recordedWith } from '../../capture/run/recorded-with.js';
import { DEFAULT_LARGEST_DROP_BYTES, DroppedFiles } from '../../server/dropped-file.js';
import { isLoopback } from '../../server/guard.js';
import { OpenProfiles } from '../../server/open-profiles.js';
import { longNameOf, openViewed, viewedName } from '../../server/open-viewed.js';
import { startServer } from '../../server/server.js';
import { readStaticFiles } from '../../server/static-files.js';
import { define } from '../command.js';
import { openBrowser } from '../open-browser.js';
import { analysisOptions } from '../options.js';
import { settingsOf } from '../profile-of.js';
import { openShareable } from '../redacted-copies.js';
import { version } from '../version.js';

export const view = define({
  usage: ['[FILE…] [--compare FILE]… [options]'],
  options: [
    'compare',
    'redacted',
    'port',
    'host',
    'noOpen',
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
    const onProgress = (file: string, done: number) => output.progress(`reading ${file}`, done);
    const opened = (files: readonly string[]) => {
      const name = alike ? longNameOf(files) : viewedName(files);
      // Files keep their own names in what is said of them; only the profile as a whole has another.
      return profiles.open(name, async () => ({
        ...(await openShareable([...files, ...(await recordedWith(files))], values.redacted, output, own =>
          openViewed(own, settings, { onProgress }),
        )),
        name,
      }));
    };
    const first = given.length > 0 ? await opened(given) : 0;
    const compare = second.length > 0 ? ([first, await opened(second)] as const) : null;
    output.clearProgress();
    const ended = endOfProcess();
    const server = await startServer({
      ...{ version: version(), profiles, compare, dropped, page, host, port: values.port },
      openDropped: (file, name, told) =>
        openViewed([file], settings, { name, onProgress: (_, done) => told(done) }),
    });
    if (values.jsonLine) output.out(`${JSON.stringify({ url: server.url, profiles: profiles.states() })}\n`);
    else output.out(`Stepscope is running at ${server.url} — press Ctrl-C to stop\n`);
    // Who listens for others mostly sits at another machine.
    if (!values.noOpen && isLoopback(host)) openBrowser(server.url);
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
