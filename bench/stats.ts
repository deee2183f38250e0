/** Five summaries of a 260 MB export, compared with the installed `nsys stats`. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { findNsys, grown, say, type Verdict } from './inputs.js';
import { type Measured, measureCommand, measurePeer, medianRun, seconds, times } from './measure.js';

/** The current name, and the name in releases before 2023. */
const reports: readonly (readonly [now: string, before: string])[] = [
  ['cuda_gpu_kern_sum', 'gpukernsum'],
  ['cuda_api_sum', 'cudaapisum'],
  ['cuda_gpu_mem_time_sum', 'gpumemtimesum'],
  ['nvtx_sum', 'nvtxsum'],
  ['nvtx_gpu_proj_sum', 'nvtxgpuproj'],
];
/** nsys 2022 needs more than five minutes for the projection; waiting longer only raises the ratio. */
const PEER_LIMIT_SECONDS = 60;
const EXTRA_MEMORY = 300e6;

/** The rules of `nsys analyze`, which our stats has too. */
const rules = [
  ...['cuda_api_sync', 'cuda_memcpy_async', 'cuda_memcpy_sync', 'cuda_memset_sync'],
  ...['gpu_gaps', 'gpu_time_util'],
];
/** Its peak for these six on the same file, measured once. */
const NSYS_RULES_MEMORY = 439e6;

export function benchStats(): Verdict[] {
  const file = grown('eager', 'profile.sqlite.gz', 300);
  const size = statSync(file).size;
  const ask = (names: readonly string[]) =>
    measureCommand(['stats', file, '-r', names.join(','), '--format', 'csv']);
  const all = medianRun(5, () => ask(reports.map(([now]) => now)));
  say(`stepscope stats, five reports: ${seconds(all.seconds)}, peak ${formatBytes(all.peakBytes)}`);
  const verdicts: Verdict[] = [
    {
      what: `peak memory on ${formatBytes(size)}`,
      wanted: `at most ${formatBytes(size + EXTRA_MEMORY)}`,
      measured: formatBytes(all.peakBytes),
      met: all.peakBytes <= size + EXTRA_MEMORY,
    },
  ];
  const judged = medianRun(3, () => ask(rules));
  say(`stepscope stats, six rules: ${seconds(judged.seconds)}, peak ${formatBytes(judged.peakBytes)}`);
  verdicts.push({
    what: `peak memory of six rules on ${formatBytes(size)}`,
    wanted: `below the ${formatBytes(NSYS_RULES_MEMORY)} of nsys analyze`,
    measured: formatBytes(judged.peakBytes),
    met: judged.peakBytes < NSYS_RULES_MEMORY,
  });
  const nsys = findNsys();
  if (!nsys) {
    say('nsys is not installed (Debian: package nsight-systems in non-free): no comparison');
    return [
      ...verdicts,
      { what: 'speed vs. nsys stats', wanted: '10 times', measured: 'nsys is not installed', met: undefined },
    ];
  }
  say(`peer: ${nsys.version}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-bench-'));
  const peers = reports.map(([now, before], i): Measured => {
    const name = nsys.year < 2023 ? before : now;
    const peer = measurePeer(
      'nsys',
      ['stats', '-q', '--format', 'csv', '-r', name, '-o', path.join(folder, `r${i}`), file],
      PEER_LIMIT_SECONDS,
    );
    say(
      `  nsys stats -r ${name}: ${peer.stopped ? `stopped after ${seconds(peer.seconds)}` : seconds(peer.seconds)}`,
    );
    return peer;
  });
  rmSync(folder, { recursive: true });
  const total = peers.reduce((sum, peer) => sum + peer.seconds, 0);
  const stopped = peers.some(peer => peer.stopped);
  const ratio = total / all.seconds;
  verdicts.push({
    what: 'five reports vs. nsys stats',
    wanted: 'at least 10 times faster',
    measured: `${stopped ? 'more than ' : ''}${times(ratio)} faster (${seconds(total)} to ${seconds(all.seconds)})`,
    met: ratio >= 10,
  });
  if (stopped) {
    const finished = reports.filter((_, i) => !peers[i].stopped);
    const ours = medianRun(5, () => ask(finished.map(([now]) => now)));
    const theirs = peers.filter(peer => !peer.stopped).reduce((sum, peer) => sum + peer.seconds, 0);
    verdicts.push({
      what: `only the ${finished.length} reports that nsys finished`,
      wanted: 'for the record',
      measured: `${times(theirs / ours.seconds)} faster (${seconds(theirs)} to ${seconds(ours.seconds)})`,
      met: undefined,
    });
  }
  return verdicts;
}
