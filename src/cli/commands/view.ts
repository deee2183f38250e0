import { fileURLToPath } from 'node:url';
import type { Settings } from '../../analyze/analysis.js';
import { UserError } from '../../base/user-error.js';
import { DEFAULT_LARGEST_DROP_BYTES, DroppedFiles } from '../../server/dropped-file.js';
import { isLoopback } from '../../server/guard.js';
import { OpenProfiles } from '../../server/open-profiles.js';
import { longNameOf, openViewed, viewedName } from '../../server/open-viewed.js';
import { startServer } from '../../server/server.js';
import { readStaticFiles } from '../../server/static-files.js';
import { readSettings, settingHelp, settingOptions } from '../analysis-settings.js';
import { readArguments } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { openBrowser } from '../open-browser.js';
import { version } from '../version.js';

export const view: Command = {
  name: 'view',
  summary: 'Look at a profile in the browser: timeline, answer and every analysis, for any steps.',
  usage: 'stepscope view [FILE…] [--compare FILE]… [options]',
  options: [
    { flags: '--compare FILE', meaning: 'a second run beside the first; repeat it for each of its files' },
    { flags: '--port N', meaning: 'the port to serve at (default: a free one)' },
    {
      flags: '--host ADDRESS',
      meaning: 'an address others can reach; whoever asks then needs the key in the printed URL',
    },
    { flags: '--no-open', meaning: 'do not open the browser' },
    {
      flags: '--max-drop GB',
      meaning: `largest file that may be dropped onto the page (default ${DEFAULT_LARGEST_DROP_BYTES / 1e9})`,
    },
    ...settingHelp,
    {
      flags: '--model FILE',
      meaning: 'config.json of the model, or a preset: compares with the speed of light',
    },
    { flags: '--tp N', meaning: 'ways the weights are split over GPUs (default: the ranks)' },
    { flags: '--json', meaning: 'print the address and the profiles as one line of JSON' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope view profile.sqlite', 'opens the browser at the timeline'],
    ['stepscope view rank*.json.gz', 'all ranks as one run'],
    ['stepscope view eager.sqlite --compare graph.sqlite', 'two runs side by side, step by step'],
    ['stepscope view', 'an empty page: drop a file onto it'],
    [
      'stepscope view profile.sqlite --port 8080 --no-open',
      'on a remote machine; here: ssh -L 8080:localhost:8080 MACHINE, then open http://localhost:8080/',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('view', args, {
      ...settingOptions,
      model: { type: 'string' },
      tp: { type: 'string' },
      compare: { type: 'string', multiple: true },
      port: { type: 'string' },
      host: { type: 'string' },
      'no-open': { type: 'boolean' },
      'max-drop': { type: 'string' },
      json: { type: 'boolean' },
    });
    // What can be wrong without reading a profile is said before reading one.
    const settings = readSettings(values);
    const port = readPort(values.port);
    const host = values.host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1';
    const dropped = new DroppedFiles(readGigabytes(values['max-drop']));
    const page = readStaticFiles(fileURLToPath(new URL('../../../web/', import.meta.url)));
    const second = values.compare ?? [];
    if (second.length > 0 && positionals.length === 0) {
      throw new UserError(
        'usage',
        'There is nothing to compare with.',
        'For example: stepscope view eager.sqlite --compare graph.sqlite',
      );
    }
    const profiles = new OpenProfiles();
    const alike = second.length > 0 && viewedName(positionals) === viewedName(second);
    const opened = (files: readonly string[]) =>
      open(profiles, files, alike ? longNameOf(files) : viewedName(files), settings, output);
    const first = positionals.length > 0 ? await opened(positionals) : 0;
    const compare = second.length > 0 ? ([first, await opened(second)] as const) : null;
    output.clearProgress();
    const ended = endOfProcess();
    const server = await startServer({
      ...{ version: version(), profiles, compare, dropped, page, host, port },
      openDropped: (file, name, onProgress) =>
        openViewed([file], settings, { name, onProgress: (_, done) => onProgress(done) }),
    });
    if (values.json) output.out(`${JSON.stringify({ url: server.url, profiles: profiles.states() })}\n`);
    else output.out(`Stepscope is at ${server.url} — Ctrl-C ends it\n`);
    // A key on a command line could be read by anyone on this machine; and who needs one mostly sits at another.
    if (!values['no-open'] && isLoopback(host)) openBrowser(server.url);
    await ended;
    await server.stop();
    // A dropped file may still be being read; nobody waits for it any more.
    if (profiles.states().some(({ status }) => status === 'opening')) process.exit(0);
    return 0;
  },
};

function open(
  profiles: OpenProfiles,
  files: readonly string[],
  name: string,
  settings: Settings,
  output: Output,
): Promise<number> {
  const onProgress = (file: string, done: number) => output.progress(`reading ${file}`, done);
  return profiles.open(name, async () => {
    // Files keep their own names in what is said of them; only the profile as a whole has another.
    const view = await openViewed(files, settings, { onProgress });
    return { ...view, name };
  });
}

/** Asked to end. The second time is not caught: then it ends at once. */
function endOfProcess(): Promise<void> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new UserError('usage', `${JSON.stringify(text)} is no port.`, 'For example: --port 8080');
}

function readGigabytes(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const gigabytes = Number(text);
  if (gigabytes > 0 && gigabytes <= 1e6) return gigabytes * 1e9;
  throw new UserError('usage', `${JSON.stringify(text)} is no size in GB.`, 'For example: --max-drop 20');
}
