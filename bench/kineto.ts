/** Opening and summing a 1 GB PyTorch trace, compared with only Python's `json.load`. */
import { createReadStream, createWriteStream, existsSync, renameSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { formatBytes } from '../src/base/units.js';
import { grown, say, type Verdict } from './inputs.js';
import { measureOurs, measurePeer, medianRun, seconds, times } from './measure.js';

const PEER_LIMIT_SECONDS = 600;
const MEMORY_LIMIT = 500e6;

export async function benchKineto(): Promise<Verdict[]> {
  const file = grown('eager', 'kineto.json.gz', 66);
  const packed = await gzipped(file);
  const verdicts: Verdict[] = [];
  for (const [input, opener] of [
    [file, 'open'],
    [packed, 'gzip.open'],
  ] as const) {
    const ours = medianRun(3, () => measureOurs(['open', input]));
    const size = formatBytes(statSync(input).size);
    say(`stepscope opens ${size}: ${seconds(ours.seconds)}, peak ${formatBytes(ours.peakBytes)}`);
    const script = `import json, gzip, sys; json.load(${opener}(sys.argv[1], 'rb'))`;
    const peer = measurePeer('python3', ['-c', script, input], PEER_LIMIT_SECONDS);
    say(`  python json.load: ${seconds(peer.seconds)}`);
    const ratio = peer.seconds / ours.seconds;
    verdicts.push(
      {
        what: `${size} ${input === packed ? 'gzipped trace' : 'trace'} vs. json.load`,
        wanted: 'at least 8 times faster',
        measured: `${times(ratio)} faster (${seconds(peer.seconds)} to ${seconds(ours.seconds)})`,
        met: ratio >= 8,
      },
      {
        what: 'peak memory of the above',
        wanted: `under ${formatBytes(MEMORY_LIMIT)}`,
        measured: formatBytes(ours.peakBytes),
        met: ours.peakBytes < MEMORY_LIMIT,
      },
    );
  }
  return verdicts;
}

async function gzipped(file: string): Promise<string> {
  const target = `${file}.gz`;
  if (!existsSync(target)) {
    say(`compressing ${target} …`);
    await pipeline(createReadStream(file), createGzip({ level: 6 }), createWriteStream(`${target}.part`));
    renameSync(`${target}.part`, target);
  }
  return target;
}
