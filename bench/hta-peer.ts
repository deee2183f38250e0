/** Holistic Trace Analysis, Meta's library for the same files, in its own virtual environment. */
import { execFileSync } from 'node:child_process';
import * as path from 'node:path';
import { projectRoot } from '../src/testing/captures.js';
import { benchFolder, say } from './inputs.js';
import { type Measured, measurePeer } from './measure.js';

const HTA = 'HolisticTraceAnalysis==0.5.0';
/** A dependency of its fastest parser, which it does not install itself. */
const STREAMING = 'ijson==3.6.0';
const LIMIT_SECONDS = 600;

export interface HtaPeer {
  readonly version: string;
  measure(trace: string, ...options: readonly string[]): Measured;
}

/** Installs it on first use, or returns one line that explains the failure. */
export function findHta(): HtaPeer | string {
  const folder = path.join(benchFolder(), 'hta-venv');
  const python = path.join(folder, 'bin/python');
  const works = () => succeeds(python, ['-c', 'import ijson, hta.trace_analysis']);
  if (!works()) {
    say(`installing ${HTA} into ${path.relative(projectRoot, folder)} …`);
    if (!succeeds('python3', ['-m', 'venv', folder]))
      return 'python3 -m venv failed (Debian: package python3-venv)';
    if (!succeeds(python, ['-m', 'pip', 'install', '--quiet', HTA, STREAMING]))
      return `pip install ${HTA} failed (needs the network, once)`;
    if (!works()) return `${HTA} is installed but cannot be imported`;
  }
  const script = path.join(projectRoot, 'bench/ask-hta.py');
  return {
    version: HTA.replace('==', ' '),
    measure: (trace, ...options) => measurePeer(python, [script, trace, ...options], LIMIT_SECONDS),
  };
}

function succeeds(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
