/** Expert loads of a long run (58 layers × 256 experts × 10,000 iterations) and a placement on 288 GPUs. */
import { closeSync, existsSync, openSync, renameSync, writeSync } from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { betterPlacement } from '../src/moe/placement/better-placement.js';
import { eplb } from '../src/moe/placement/eplb.js';
import { imbalance } from '../src/testing/placements.js';
import { randomNumbers } from '../src/testing/random-profile.js';
import { benchFolder, say, type Verdict } from './inputs.js';
import { measureOurs, medianRun, seconds } from './measure.js';

const LAYERS = 58;
const EXPERTS = 256;
const ITERATIONS = 10_000;
const WANTED_SECONDS = 5;
const WANTED_BYTES = 1e9;

export function benchMoe(): Verdict[] {
  const file = loadsFile();
  const ours = medianRun(3, () => measureOurs(['loads', file]));
  say(`reading ${ITERATIONS} iterations: ${seconds(ours.seconds)}, ${formatBytes(ours.peakBytes)}`);
  const tokens = zipf();
  const begun = performance.now();
  const placed = betterPlacement(tokens, { gpus: 288, nodes: 1, places: 576 });
  const placing = (performance.now() - begun) / 1000;
  const theirs = imbalance(eplb(tokens, { gpus: 288, nodes: 1, places: 576 }), tokens);
  const own = imbalance(placed, tokens);
  say(`288 GPUs: ${seconds(placing)}, busiest ÷ mean ${own.toFixed(3)}, EPLB ${theirs.toFixed(3)}`);
  return [
    {
      what: `${LAYERS} × ${EXPERTS} × ${ITERATIONS} loads, time`,
      wanted: `under ${WANTED_SECONDS} s`,
      measured: seconds(ours.seconds),
      met: ours.seconds < WANTED_SECONDS,
    },
    {
      what: 'the same, memory',
      wanted: `under ${formatBytes(WANTED_BYTES)}`,
      measured: formatBytes(ours.peakBytes),
      met: ours.peakBytes < WANTED_BYTES,
    },
    {
      what: 'placement of 256 experts on 288 GPUs, 576 places',
      wanted: 'no worse than EPLB, under 2 s',
      measured: `${own.toFixed(3)} vs. ${theirs.toFixed(3)}, ${seconds(placing)}`,
      met: own <= theirs + 1e-9 && placing < 2,
    },
  ];
}

/** Int64, the widest type of counts. Created once and kept. */
function loadsFile(): string {
  const file = path.join(benchFolder(), `loads-${ITERATIONS}.npy`);
  if (existsSync(file)) return file;
  say(`creating ${path.basename(file)} …`);
  const text = `{'descr': '<i8', 'fortran_order': False, 'shape': (${ITERATIONS}, ${LAYERS}, ${EXPERTS}), }`;
  const padded = `${text.padEnd(128 - 10 - 1)}\n`;
  const head = Buffer.concat([
    Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length, 0]),
    Buffer.from(padded),
  ]);
  const shares = zipf();
  const random = randomNumbers(7);
  const step = new Int32Array(LAYERS * EXPERTS * 2);
  const handle = openSync(`${file}.part`, 'w');
  writeSync(handle, head);
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const shift = random(EXPERTS);
    for (let i = 0; i < LAYERS * EXPERTS; i++)
      step[2 * i] = Math.floor(shares[(i * 7 + shift) % EXPERTS] / 1000);
    writeSync(handle, step);
  }
  closeSync(handle);
  renameSync(`${file}.part`, file);
  return file;
}

const zipf = () =>
  Float64Array.from({ length: EXPERTS }, (_, i) => Math.round(1e6 / (((i * 37) % EXPERTS) + 1) ** 0.8));
