/** What recorded Python stacks cost: a trace with a million frames, compared with the same trace without them. */
import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { formatBytes } from '../src/base/units.js';
import { projectRoot } from '../src/testing/captures.js';
import { grown, say, type Verdict } from './inputs.js';
import { type Measured, measureOurs, medianRuns, seconds, times } from './measure.js';

const FRAMES = 1_000_000;
const ROUNDS = 3;
const SLOWER = 1.5;
const LARGER = 1.5;

export function benchFrames(): Verdict[] {
  const without = grown('eager', 'kineto.json.gz', 25);
  const framed = withFrames(without);
  const run = (mode: readonly string[], file: string) => () => measureOurs([...mode, file]);
  const [plain, stacks, plainImport, stacksImport] = medianRuns(ROUNDS, [
    run(['cli', 'analyze'], without),
    run(['cli', 'analyze'], framed),
    run(['import'], without),
    run(['import'], framed),
  ]);
  const spent = ({ seconds: value, peakBytes }: Measured) =>
    `${seconds(value)}, peak ${formatBytes(peakBytes)}`;
  say(
    `analyze ${formatBytes(statSync(without).size)} without frames: ${spent(plain)}; import only ${spent(plainImport)}`,
  );
  say(
    `analyze ${formatBytes(statSync(framed).size)} with 1 million frames: ${spent(stacks)}; import only ${spent(stacksImport)}`,
  );
  const beyond = (stacks.seconds - stacksImport.seconds) / (plain.seconds - plainImport.seconds);
  return [
    {
      what: 'analyze with 1 million Python frames vs. without',
      wanted: `at most ${SLOWER} times`,
      measured: `${times(stacks.seconds / plain.seconds)} (${spent(stacks)}; ${spent(plain)})`,
      met: stacks.seconds <= SLOWER * plain.seconds,
    },
    {
      what: 'the same after the import',
      wanted: `at most ${SLOWER} times`,
      measured: times(beyond),
      met: beyond <= SLOWER,
    },
    {
      what: 'peak memory of the same',
      wanted: `at most ${LARGER} times`,
      measured: times(stacks.peakBytes / plain.peakBytes),
      met: stacks.peakBytes <= LARGER * plain.peakBytes,
    },
  ];
}

/** Written once and kept. */
function withFrames(file: string): string {
  const target = file.replace(/\.json$/, '-frames.json');
  if (!existsSync(target)) {
    say(`creating ${path.basename(target)} …`);
    execFileSync('python3', [path.join(projectRoot, 'bench/frames.py'), file, target, String(FRAMES)]);
  }
  return target;
}
