/**
 * Runs a plan on the far side. It is started there apart from our connection and watched through small questions, so a
 * connection that breaks loses nothing; interrupts reach it as signals of its own machine. Everything of ours lies in
 * one folder there, and both the folder and what still runs are taken away at the end.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { STREAM_ENDING } from '../../catalog/file-formats.js';
import { iterationInLine } from '../../catalog/iteration-line.js';
import { type CopyOptions, copyBack } from './copy-back.js';
import { NO_SPACE } from './free-space.js';
import { importStream } from './import-stream.js';
import { MARK_VARIABLE, newMark, sleep } from './marked-processes.js';
import { LastLines, OutputLines } from './output-lines.js';
import {
  doubtsAbout,
  lookAt,
  type NsysSource,
  type RemoteMachine,
  unreachable,
  withNsys,
} from './remote-machine.js';
import { pathOf, type RunOptions, type RunResult, type StoppedBy, terminalInterrupts } from './run-plan.js';
import type { Runnable } from './runnable.js';
import { lastLine, script, type Transport } from './transport.js';
import { OutputWatch, SIDECAR_ENDING, type WrittenFile } from './written-files.js';

export interface RemoteOptions
  extends Omit<RunOptions, 'env' | 'freeBytes' | 'onStarted' | 'logFile' | 'released'> {
  readonly inPod: boolean;
  readonly source?: NsysSource;
  /** The plan for that machine, which writes into this folder of it. */
  readonly plan: (
    machine: RemoteMachine & { readonly nsys: string },
    folder: string,
  ) => Runnable | Promise<Runnable>;
  /** Where reports are put on this machine: name without ending. */
  readonly output: string;
  readonly pollMs?: number;
  readonly copy?: CopyOptions;
}

interface RemoteResult extends RunResult {
  readonly machine: RemoteMachine;
  readonly plan: Runnable;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
const MAKE_FOLDER = 'umask 077; mktemp -d "${TMPDIR:-/tmp}/stepscope-XXXXXXXX"';
/**
 * The status is written last: who sees it sees the whole log. What a shell starts with `&` ignores interrupts for good,
 * so setsid does the going apart where it can.
 */
const START = `D=$1; shift; mkdir -p "$D/out"
R='D=$1; shift; sh -c '"'"'echo $$ >"$0/pid"; exec "$@"'"'"' "$D" "$@" >"$D/log" 2>&1 </dev/null; echo $? >"$D/status"'
if setsid -f true 2>/dev/null; then setsid -f sh -c "$R" sh "$D" "$@" >/dev/null 2>&1 </dev/null
else $(command -v setsid || true) sh -c "$R" sh "$D" "$@" >/dev/null 2>&1 </dev/null & fi
echo started`;
/** Bytes are counted there: what arrives may be cut inside a character. */
const LOOK = `s=; if [ -f "$1/status" ]; then s=$(cat "$1/status"); fi
n=$(wc -c <"$1/log" 2>/dev/null || echo 0); k=$((n-$2)); if [ "$k" -gt 65536 ]; then k=65536; fi
echo "status=$s bytes=$k"; if [ "$k" -gt 0 ]; then tail -c +"$(($2+1))" "$1/log" | head -c "$k"; fi`;
/** Asks by number, but only the process that carries our mark. */
const SIGNAL_ONE =
  'p=$(cat "$1/pid") && tr "\\0" "\\n" <"/proc/$p/environ" | grep -qx "$2" && kill -"$3" "$p"';
const SIGNAL_ALL =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
  'for d in /proc/[0-9]*; do if tr "\\0" "\\n" <"$d/environ" 2>/dev/null | grep -qx "$1"; then kill -"$2" "${d#/proc/}" 2>/dev/null; echo "${d#/proc/}"; fi; done; true';
const PYTHON_PATH = 'printf %s "$PYTHONPATH"';
const FILES = 'cd "$1/out" && ls -1';
const OUR_FOLDER = /^\/[^\0\n]*\/stepscope-[A-Za-z0-9]{8}$/;
/** Lost connections in a row before giving up. */
const PATIENCE = 30;
/** How long nsys may take to write its report after it was asked to stop. */
const GRACE_MS = 180_000;

export async function runRemote(transport: Transport, options: RemoteOptions): Promise<RemoteResult> {
  const watch = OutputWatch.begin([{ kind: 'nsys-report', pattern: options.output }], options.force === true);
  const seenMachine = await lookAt(transport);
  for (const doubt of doubtsAbout(seenMachine, options.inPod)) options.onNotice?.(doubt);
  const folder = await makeFolder(transport);
  const mark = `${MARK_VARIABLE}=${newMark()}`;
  let keepFolder = false;
  try {
    const machine = await withNsys(transport, seenMachine, options.source ?? {}, folder);
    const plan = await options.plan(machine, `${folder}/out`);
    const env = { ...plan.env, ...(await pathThere(transport, plan.env)) };
    const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const startedUtc = new Date().toISOString();
    const started = await transport.exec(script(START, folder, 'env', mark, ...set, ...plan.command));
    if (started.status !== 0) throw unreachable(transport, started);
    const watched = await watchRun(transport, folder, mark, plan, options);
    const endedUtc = new Date().toISOString();
    const ended = await endFar(transport, mark);
    // From here on a failure leaves the reports there, to be fetched again.
    keepFolder = true;
    const files = await fetchAll(transport, folder, options, watched.lines);
    keepFolder = false;
    const { lines, ...rest } = watched;
    return {
      ...rest,
      machine,
      plan,
      signal: null,
      files: files.length > 0 ? files : watch.written(),
      startedUtc,
      endedUtc,
      ended,
      lastLines: lines.all(),
      reason: lines.reason(),
    };
  } finally {
    await endFar(transport, mark).catch(() => []);
    if (!keepFolder) await removeFolder(transport, folder);
    else options.onNotice?.(`the reports are still in ${transport.name}; get them with --fetch ${folder}`);
  }
}

/** Reports an earlier run could not bring back; what has arrived of them is not sent again. */
export async function fetchRemote(
  transport: Transport,
  folder: string,
  options: Pick<RemoteOptions, 'output' | 'copy' | 'onNotice' | 'force'>,
): Promise<WrittenFile[]> {
  // Only a folder of ours: it is removed afterwards.
  if (!OUR_FOLDER.test(folder) || folder.includes('/../'))
    throw new UserError(
      'usage',
      `${folder} is not a capture folder.`,
      'Use the folder that the interrupted run printed: --fetch /tmp/stepscope-…',
    );
  const files = await fetchAll(transport, folder, options, new LastLines());
  if (files.length > 0) await removeFolder(transport, folder);
  return files;
}

async function watchRun(
  transport: Transport,
  folder: string,
  mark: string,
  plan: Runnable,
  options: RemoteOptions,
) {
  const lines = new LastLines();
  let iterations: { first: number; last: number } | undefined;
  const reader = new OutputLines(line => {
    lines.add(line);
    options.onLine?.(line);
    const found = iterationInLine(line);
    if (!found) return;
    iterations = { first: Math.min(iterations?.first ?? Infinity, found.iteration), last: found.iteration };
    options.onIteration?.(found.iteration);
  });
  let stoppedBy: StoppedBy | undefined;
  const pending: (() => Promise<unknown>)[] = [];
  const timers: NodeJS.Timeout[] = [];
  // The shell around it carries no mark and lives to write down how it ended.
  const killAll = () => transport.exec(script(SIGNAL_ALL, mark, 'KILL'));
  const ask = (why: StoppedBy, notice: string) => {
    if (stoppedBy !== undefined) return;
    stoppedBy = why;
    options.onNotice?.(notice);
    const signals = [plan.nsysAt === 0 ? 'INT' : 'TERM', 'TERM'];
    const [first, second] = signals.map(
      signal => () => transport.exec(script(SIGNAL_ONE, folder, mark, signal)),
    );
    const graceMs = options.graceMs ?? GRACE_MS;
    pending.push(first);
    timers.push(setTimeout(() => pending.push(second), Math.min(20_000, graceMs / 2)));
    timers.push(setTimeout(() => pending.push(killAll), graceMs));
  };
  const unlisten = (options.stop ?? terminalInterrupts).listen(() => {
    if (stoppedBy === undefined)
      return ask('interrupt', 'stopping, keeping what was recorded (press again to kill it)');
    stoppedBy = 'kill';
    options.onNotice?.('killing all processes');
    pending.push(killAll);
  });
  const timer =
    options.timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => ask('timeout', 'timeout reached: stopping, keeping what was recorded'),
          options.timeoutMs,
        );
  let offset = 0;
  let lost = 0;
  try {
    for (;;) {
      while (pending.length > 0) await pending.shift()!();
      const answer = await transport.exec(script(LOOK, folder, String(offset)));
      const head = /^status=(-?\d*) bytes=(-?\d+)\n/.exec(answer.stdout);
      if (answer.status !== 0 || !head) {
        if (++lost >= PATIENCE) throw unreachable(transport, answer);
        await sleep(options.pollMs ?? 1000);
        continue;
      }
      lost = 0;
      const text = answer.stdout.slice(head[0].length);
      const bytes = Math.max(0, Number(head[2]));
      offset += bytes;
      reader.push(text);
      if (head[1] !== '' && bytes === 0) {
        reader.end();
        return {
          status: Number(head[1]),
          ...(stoppedBy ? { stoppedBy } : {}),
          ...(iterations ? { iterations } : {}),
          lines,
        };
      }
      if (bytes === 0) await sleep(options.pollMs ?? 1000);
    }
  } finally {
    clearTimeout(timer);
    timers.forEach(clearTimeout);
    unlisten();
  }
}

async function pathThere(
  transport: Transport,
  planned: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  if (planned.PYTHONPATH === undefined) return {};
  const { status, stdout } = await transport.exec(script(PYTHON_PATH));
  return pathOf(planned, { PYTHONPATH: status === 0 ? stdout.trim() : '' });
}

export async function makeFolder(transport: Transport): Promise<string> {
  const result = await transport.exec(script(MAKE_FOLDER));
  const folder = result.stdout.trim().split('\n')[0] ?? '';
  if (OUR_FOLDER.test(folder)) return folder;
  const said = lastLine(result);
  const space = NO_SPACE.test(said);
  throw new UserError(
    space ? 'no-space' : 'unreachable',
    `A folder cannot be created in ${transport.name}: ${said}`,
    space
      ? 'Free some disk space there, or set TMPDIR in the container.'
      : 'Set TMPDIR there to a writable folder.',
  );
}

/** Only a folder of the very form we made. */
export async function removeFolder(transport: Transport, folder: string): Promise<void> {
  if (OUR_FOLDER.test(folder)) await transport.exec(['rm', '-rf', '--', folder]).catch(() => undefined);
}

async function endFar(transport: Transport, mark: string): Promise<{ pid: number; name: string }[]> {
  const asked = await transport.exec(script(SIGNAL_ALL, mark, 'TERM'));
  const pids = asked.stdout.split('\n').filter(line => /^\d+$/.test(line));
  for (let round = 0; round < 20 && pids.length > 0; round++) {
    await sleep(100);
    const left = await transport.exec(script(SIGNAL_ALL, mark, round < 10 ? '0' : 'KILL'));
    if (left.stdout.trim() === '') break;
  }
  return pids.map(pid => ({ pid: Number(pid), name: '' }));
}

/** Every report in the folder; several are ranks and keep the part of their name that tells them apart. */
export async function fetchAll(
  transport: Transport,
  folder: string,
  options: Pick<RemoteOptions, 'output' | 'copy' | 'onNotice' | 'force'>,
  lines: LastLines,
): Promise<WrittenFile[]> {
  const listed = await transport.exec(script(FILES, folder));
  const names = listed.stdout
    .split('\n')
    .filter(name => /\.(nsys-rep|qdstrm|json|json\.gz)$/.test(name) && !name.includes('/'));
  const reports = names.filter(name => name.endsWith('.nsys-rep'));
  const wanted = reports.length > 0 ? names.filter(name => !name.endsWith('.qdstrm')) : names;
  if (wanted.length === 0 && lines.all().some(line => NO_SPACE.test(line)))
    throw new UserError(
      'no-space',
      `The disk of ${transport.name} filled up before the report was written.`,
      'Free some disk space there, set TMPDIR, or capture fewer iterations.',
    );
  const stem = options.output.replace(/\.nsys-rep$/, '');
  const files: WrittenFile[] = [];
  for (const name of wanted) {
    const ending = endingOf(name);
    const own = name.slice(0, -ending.length);
    const several = wanted.filter(other => endingOf(other) === ending).length > 1;
    const target = `${several ? path.join(path.dirname(stem), safeName(own)) : stem}${ending}`;
    options.onNotice?.(`copying ${printableName(name)} from ${transport.name}`);
    await copyBack(transport, `${folder}/out/${name}`, target, { force: options.force, ...options.copy });
    // A container without the importer leaves a stream; the one here may be of the same version.
    const report = ending === STREAM_ENDING ? await importStream(target, 'nsys') : undefined;
    files.push({
      path: report ?? target,
      kind: kindOf(ending),
      bytes: fs.statSync(report ?? target).size,
    });
  }
  return files;
}

const endingOf = (name: string): string => /\.(nsys-rep|qdstrm|agent\.json|json\.gz|json)$/.exec(name)![0];

function kindOf(ending: string): WrittenFile['kind'] {
  if (ending === SIDECAR_ENDING) return 'agent-sidecar';
  return ending.includes('json') ? 'torch-trace' : 'nsys-report';
}

/** Names come from the far side: they choose no folder here. */
const safeName = (name: string): string => name.replace(/[^\w.%+=@-]/g, '_').replace(/^\.+/, '_');
const printableName = (name: string): string => name.replace(/[^\x20-\x7e]/g, '?');
