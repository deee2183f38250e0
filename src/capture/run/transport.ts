/**
 * Another place where commands run: here, in a pod, behind ssh. Commands are words, never lines: where a shell stands
 * between (ssh), each word is quoted for it.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../../base/user-error.js';
import { shellCommand } from '../shell-quote.js';
import { forwardPort } from './ssh-forward.js';

interface ExecOptions {
  /** A file that becomes standard input. */
  readonly inputFile?: string;
  /** Standard output goes to this stream instead of the result. */
  readonly into?: NodeJS.WritableStream;
  /** Of standard output into the stream: whoever sends more is ended. */
  readonly mostBytes?: number;
  readonly timeoutMs?: number;
}

export interface ExecResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Transport {
  /** For messages: `here`, `pod NAME`, `ssh HOST`. */
  readonly name: string;
  exec(command: readonly string[], options?: ExecOptions): Promise<ExecResult>;
  /** Starts a command there whose input and output are streams: one connection of a tunnel. */
  start(command: readonly string[]): ChildProcessWithoutNullStreams;
  /** Its own way to a port there that answers; undefined where it has none, or may not. */
  forward?(port: number): ReturnType<typeof forwardPort>;
}

const startHere = ([program, ...args]: readonly string[]) => spawn(program, args, { stdio: 'pipe' });

const TIMEOUT_MS = 120_000;
const MOST_TEXT = 1 << 20;

export const localTransport: Transport = {
  name: 'here',
  exec: (command, options) => run(command, options),
  start: startHere,
};

interface Pod {
  readonly pod: string;
  readonly namespace?: string;
  readonly container?: string;
}

/** What Kubernetes allows in names; nothing else can be a pod, and a leading dash would be an option. */
const KUBERNETES_NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function kubectlTransport({ pod, namespace, container }: Pod): Transport {
  for (const [what, name] of Object.entries({ pod, namespace, container })) refuseName(what, name);
  const where = [
    ...(namespace === undefined ? [] : [`--namespace=${namespace}`]),
    pod,
    ...(container === undefined ? [] : [`--container=${container}`]),
  ];
  return {
    name: `pod ${pod}`,
    exec: (command, options) =>
      run(['kubectl', 'exec', ...(options?.inputFile ? ['-i'] : []), ...where, '--', ...command], options),
    start: command => startHere(['kubectl', 'exec', '-i', ...where, '--', ...command]),
  };
}

export function refuseName(what: string, name: string | undefined): void {
  if (name !== undefined && !KUBERNETES_NAME.test(name))
    throw new UserError(
      'usage',
      `${JSON.stringify(name)} is not a valid ${what} name.`,
      'kubectl get pods lists them.',
    );
}

export function sshTransport(host: string): Transport {
  if (!/^[\w.@:%[\]-]+$/.test(host) || host.startsWith('-'))
    throw new UserError('usage', `${JSON.stringify(host)} is not a host.`, 'For example: --ssh user@machine');
  const login = ['ssh', '-T', '-o', 'BatchMode=yes'];
  // The far shell reads one line: every word is quoted for it.
  const over = (command: readonly string[]) => [...login, '--', host, shellCommand(command)];
  return {
    name: `ssh ${host}`,
    forward: port => forwardPort(login, host, port),
    exec: (command, options) => run(over(command), options),
    start: command => startHere(over(command)),
  };
}

async function run([program, ...args]: readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
  const child = spawn(program, args, {
    stdio: [options.inputFile ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? TIMEOUT_MS,
  });
  let stdout = '';
  let stderr = '';
  const feeding =
    options.inputFile && child.stdin
      ? pipeline(fs.createReadStream(options.inputFile), child.stdin)
      : undefined;
  // The far side may end before it has read everything; its status says why.
  feeding?.catch(() => {});
  const { into, mostBytes = Infinity } = options;
  async function* bounded(chunks: AsyncIterable<Uint8Array>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      yield chunk.subarray(0, mostBytes - bytes);
      bytes += chunk.length;
      if (bytes > mostBytes) {
        child.kill();
        return;
      }
    }
  }
  const taking = into ? pipeline(child.stdout!, bounded, into, { end: false }) : undefined;
  if (!taking)
    child.stdout!.setEncoding('utf8').on('data', text => {
      stdout = (stdout + text).slice(-MOST_TEXT);
    });
  child.stderr!.setEncoding('utf8').on('data', text => {
    stderr = (stderr + text).slice(-MOST_TEXT);
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', error =>
      reject(
        new UserError(
          'unreachable',
          `${program} does not run on this machine: ${(error as NodeJS.ErrnoException).code}.`,
          `Install ${program}, or put it on PATH.`,
        ),
      ),
    );
    child.once('close', resolve);
  });
  await taking;
  return { status, stdout, stderr };
}

/** A constant script with its arguments beside it, so that no name becomes a part of the script. */
export const script = (text: string, ...args: readonly string[]): string[] => [
  'sh',
  '-c',
  text,
  'sh',
  ...args,
];

/** The last line of what went wrong, fit to be shown. */
export function lastLine(result: ExecResult): string {
  const lines = `${result.stdout}\n${result.stderr}`
    .split('\n')
    .map(line => line.replace(/[^\x20-\x7e]/g, '').trim());
  return (lines.filter(line => line !== '').at(-1) ?? `status ${result.status}`).slice(0, 300);
}
