/** `stepscope view` as a user starts it: a process of its own that has seen none of its files before. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';
import { projectRoot } from '../src/testing/captures.js';

export interface StartedView {
  /** Once it is printed. */
  readonly address: Promise<string>;
  /** The most memory it has had. */
  peakBytes(): number;
  /** User and system time of all its threads, in ticks of 10 ms. */
  cpuMs(): number;
  stop(): void;
}

export function startView(file: string): StartedView {
  const server = spawn(
    process.execPath,
    [path.join(projectRoot, 'bin/stepscope'), 'view', file, '--no-open'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, STEPSCOPE_NO_CACHE: '1' },
    },
  );
  const about = (name: string) => readFileSync(`/proc/${server.pid}/${name}`, 'utf8');
  return {
    address: addressIn(server.stdout),
    peakBytes: () => Number(/VmHWM:\s+(\d+)/.exec(about('status'))?.[1] ?? Number.NaN) * 1024,
    cpuMs() {
      const fields = about('stat')
        .replace(/^.*\) /, '')
        .split(' ');
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
    stop: () => server.kill(),
  };
}

async function addressIn(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const found = /http:\/\/\S+/.exec(line);
    if (found) return found[0];
  }
  throw new Error('stepscope view printed no address');
}
