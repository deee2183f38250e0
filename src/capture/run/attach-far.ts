/**
 * A server that runs on the far side, profiled without starting it again: through its endpoints, reached by a tunnel, or
 * by the agent inside it. What it wrote is gathered in a folder of ours there, copied back, and the folder removed; the
 * server's own folder is left as it is.
 */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { PlanStep } from '../capture-plan.js';
import { LIST_PROCESSES, type RunningProcess, readProcesses, type WayIn } from '../running-server.js';
import { sleep } from './marked-processes.js';
import { LastLines } from './output-lines.js';
import { unreachable } from './remote-machine.js';
import { terminalInterrupts } from './run-plan.js';
import { fetchAll, makeFolder, type RemoteOptions, removeFolder } from './run-remote.js';
import { attachServer, followSteps } from './run-server.js';
import type { LoadLevels } from './server-calls.js';
import { lastLine, script, type Transport } from './transport.js';
import type { Tunnel } from './tunnel.js';
import type { WrittenFile } from './written-files.js';

/** Sizes and names, one folder deep: some engines make a folder of each profile. */
const LIST =
  'cd "$1" 2>/dev/null || exit 0; for f in "$2"* */"$2"*; do if [ -f "$f" ]; then echo "$(wc -c <"$f") $f"; fi; done';
const GATHER = 'ln "$1/$2" "$3/out/$4" 2>/dev/null || cp "$1/$2" "$3/out/$4"';
const FILES_TIMEOUT_MS = 300_000;

export async function processesIn(transport: Transport): Promise<RunningProcess[]> {
  const result = await transport.exec(script(LIST_PROCESSES));
  if (result.status !== 0) throw unreachable(transport, result);
  return readProcesses(result.stdout);
}

interface Fetching extends Pick<RemoteOptions, 'output' | 'copy' | 'onNotice' | 'force'> {
  readonly filesTimeoutMs?: number;
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
}

interface FarAttach extends Fetching, Pick<RemoteOptions, 'stop'> {
  readonly way: Exclude<WayIn, { by: 'nothing' }>;
  /** Requests that make the server work; absent where nothing is sent. */
  readonly tunnel?: Tunnel;
  readonly load: LoadLevels;
  /** For endpoints: the requests of the plan, given the folder it may write to. */
  readonly steps: (folder: string) => readonly PlanStep[];
  readonly closesItself?: boolean;
  readonly onProgress?: (text: string) => void;
  /** For the agent: a number of steps or `A-B`; its own default where absent. */
  readonly window?: string;
  /** For the agent: what to do where the window is opened by what the engine reports. */
  readonly demanded?: readonly PlanStep[];
}

export const attachFar = (transport: Transport, options: FarAttach): Promise<WrittenFile[]> =>
  fetchWhatAppears(
    transport,
    ours => placeOf(options.way, ours),
    options,
    async ({ folder }) => {
      const { way, onNotice, onProgress, stop, load, closesItself } = options;
      if (way.by === 'agent') return openWindow(transport, way, options);
      const url = options.tunnel?.url ?? '';
      await attachServer(options.steps(folder), [], {
        ...{ url, load, onNotice, stop, closesItself },
        ...(onProgress ? { onProgress } : {}),
      });
    },
  );

/** Files that are there after `act` and were not before, copied back. `place` is given a folder of ours for them. */
export async function fetchWhatAppears(
  transport: Transport,
  place: (ours: string) => Place,
  options: Fetching,
  act: (place: Place) => Promise<void>,
): Promise<WrittenFile[]> {
  const ours = await makeFolder(transport);
  let keep = false;
  try {
    const where = place(`${ours}/traces`);
    await transport.exec(['mkdir', '-p', '--', `${ours}/traces`, `${ours}/out`]);
    const before = await filesIn(transport, where);
    await act(where);
    const names = await newFiles(transport, where, before, options);
    for (const name of names) {
      // Several are ranks: each keeps what tells it apart, behind the name that was asked for.
      const own = name.slice(name.lastIndexOf('/') + 1);
      const kept = names.length > 1 ? `${path.basename(options.output, '.nsys-rep')}-${own}` : own;
      const result = await transport.exec(script(GATHER, where.folder, name, ours, kept));
      if (result.status !== 0)
        throw new UserError(
          'capture-failed',
          `${name} cannot be read in ${transport.name}: ${lastLine(result)}`,
          `It is in ${where.folder}.`,
        );
    }
    keep = true;
    const files = await fetchAll(transport, ours, options, new LastLines());
    keep = false;
    return files;
  } finally {
    if (!keep) await removeFolder(transport, ours);
    else options.onNotice?.(`the traces are still in ${transport.name}; get them with --fetch ${ours}`);
  }
}

interface Place {
  readonly folder: string;
  /** How the names of new files begin. */
  readonly begins: string;
}

function placeOf(way: FarAttach['way'], ours: string): Place {
  if (way.by === 'endpoints') return { folder: way.folder ?? ours, begins: '' };
  const slash = way.writes.lastIndexOf('/');
  return { folder: slash < 0 ? '.' : way.writes.slice(0, slash) || '/', begins: way.writes.slice(slash + 1) };
}

/** By what the engine reports: the agent is asked once it holds. */
async function openWindow(
  transport: Transport,
  way: Extract<WayIn, { by: 'agent' }>,
  { window = '', demanded, load, tunnel, onNotice, onProgress, stop }: FarAttach,
): Promise<void> {
  const aborted = new AbortController();
  const unlisten = (stop ?? terminalInterrupts).listen(() => aborted.abort());
  const { signal } = aborted;
  const url = tunnel?.url ?? '';
  const { progress } = way;
  let isAsked = false;
  try {
    if (demanded) {
      await followSteps(demanded, {
        ...{ url, load, signal, onNotice, onProgress },
        trigger: async (_, text) => {
          await askAgent(transport, way, text);
          isAsked = true;
        },
        ...(progress === undefined
          ? {}
          : { progress: async () => (await transport.exec(['cat', '--', progress])).stdout }),
      });
      if (isAsked) return;
      throw new UserError(
        'capture-failed',
        'Stopped before the window opened: nothing was recorded.',
        'The server runs on as before.',
      );
    }
    await askAgent(transport, way, window);
    onNotice?.('the agent records the next steps');
    if (tunnel) await load.run(url, { signal, onNotice: text => onNotice?.(text) });
  } finally {
    unlisten();
  }
}

async function askAgent(
  transport: Transport,
  { pid, trigger }: Extract<WayIn, { by: 'agent' }>,
  window: string,
): Promise<void> {
  const asked =
    trigger === undefined
      ? await transport.exec(['kill', '-USR2', String(pid)])
      : await transport.exec(script('printf %s "$2" >"$1" && touch "$1"', trigger, window));
  if (asked.status !== 0)
    throw new UserError(
      'capture-failed',
      `The agent in ${transport.name} cannot be asked: ${lastLine(asked)}`,
      'Run as the user of the server.',
    );
}

async function filesIn(transport: Transport, { folder, begins }: Place): Promise<Map<string, string>> {
  const { stdout } = await transport.exec(script(LIST, folder, begins));
  const rows = stdout.split('\n').map(line => /^\s*(\d+) (.+)$/.exec(line));
  return new Map(rows.flatMap(row => (row ? [[row[2], row[1]]] : [])));
}

/** What is there that was not, and no longer grows. */
async function newFiles(
  transport: Transport,
  place: Place,
  before: ReadonlyMap<string, string>,
  { filesTimeoutMs = FILES_TIMEOUT_MS, pollMs = 1000, signal }: Fetching,
): Promise<string[]> {
  const until = Date.now() + filesTimeoutMs;
  let seen = '';
  for (;;) {
    const now = [...(await filesIn(transport, place))].filter(
      ([name, bytes]) =>
        bytes !== '0' && before.get(name) !== bytes && /\.(nsys-rep|json|json\.gz)$/.test(name),
    );
    const state = now.map(([name, bytes]) => `${bytes} ${name}`).join('\n');
    if (now.length > 0 && state === seen) return now.map(([name]) => name);
    if (Date.now() >= until || signal?.aborted)
      throw new UserError(
        'capture-failed',
        `The server wrote no trace to ${place.folder} in ${transport.name}.`,
        'The steps asked for were not reached (send more requests: --requests N), or it writes elsewhere.',
      );
    seen = state;
    await sleep(pollMs);
  }
}
