/** Short calls: a summary of a small file, and the second question about a large one. Each next to a peer in the same run. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { findNsys, grown, say, type Verdict } from './inputs.js';
import { type Measured, medianRuns, times } from './measure.js';

const ROUNDS = 11;
const WANTED_SMALL = 0.12;
const WANTED_SECOND = 0.5;

/** Wall time as a user waits for it; memory is not what these are about. */
function wall(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env): Measured {
  const begun = performance.now();
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'ignore'], env });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
  return { seconds: (performance.now() - begun) / 1000, peakBytes: 0 };
}

const bin = path.join(projectRoot, 'bin/stepscope');
const short = (value: number) => `${value.toFixed(3)} s`;

/** Node 20 reads these at every start, before any of our code: on a machine that names them, that is most of a short call. */
function sayWithoutCertificates(small: string): void {
  const { NODE_EXTRA_CA_CERTS: named, ...env } = process.env;
  if (named === undefined) return;
  const [ours, node] = medianRuns(ROUNDS, [
    () => wall(process.execPath, [bin, 'stats', small], env),
    () => wall(process.execPath, ['-e', '0'], env),
  ]);
  say(`  without NODE_EXTRA_CA_CERTS: ${short(ours.seconds)}; node alone ${short(node.seconds)}`);
}

export function benchSmall(): Verdict[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-small-'));
  try {
    const small = path.join(folder, 'graph.sqlite');
    writeFileSync(small, gunzipSync(readFileSync(capturePath('graph'))));
    const nsys = findNsys();
    const report = ['-r', 'cuda_gpu_kern_sum'];
    const [ours, node, peer] = medianRuns(ROUNDS, [
      () => wall(process.execPath, [bin, 'stats', small]),
      () => wall(process.execPath, ['-e', '0']),
      ...(nsys
        ? [
            () =>
              wall('nsys', [
                'stats',
                '-q',
                '--format',
                'csv',
                ...report,
                '-o',
                path.join(folder, 'r'),
                '--force-overwrite',
                'true',
                small,
              ]),
          ]
        : []),
    ]);
    say(
      `stepscope stats, 1.3 MB: ${short(ours.seconds)}; node alone ${short(node.seconds)}${peer ? `; nsys stats ${short(peer.seconds)}` : ''}`,
    );
    sayWithoutCertificates(small);
    const large = grown('eager', 'profile.sqlite.gz', 300);
    const cached = { ...process.env, STEPSCOPE_CACHE: path.join(folder, 'cache') };
    const uncached = { ...process.env, STEPSCOPE_NO_CACHE: '1' };
    const question = [bin, 'stats', large, ...report];
    wall(process.execPath, question, cached);
    const [second, first] = medianRuns(5, [
      () => wall(process.execPath, question, cached),
      () => wall(process.execPath, question, uncached),
    ]);
    return [
      {
        what: 'stats of 1.3 MB',
        wanted: `under ${WANTED_SMALL} s`,
        measured: `${short(ours.seconds)}, ${times(ours.seconds / node.seconds)} as long as node alone${peer ? `, ${times(peer.seconds / ours.seconds)} faster than nsys` : ''}`,
        met: ours.seconds < WANTED_SMALL,
      },
      {
        what: 'second question about 259 MB',
        wanted: `under ${WANTED_SECOND} s`,
        measured: `${short(second.seconds)}, ${times(first.seconds / second.seconds)} faster than the first (${short(first.seconds)})`,
        met: second.seconds < WANTED_SECOND,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}
