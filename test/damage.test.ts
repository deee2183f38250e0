/**
 * Damage is always said: captures damaged at random, a different seed in every run. FUZZ_SEED tries one again, and
 * FUZZ_ROUNDS more of them; `npm run fuzz` goes on for hours.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { test } from 'node:test';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { dumps, tryDump } from './damage/load-damage.js';
import { seeded } from './damage/mutations.js';
import { Scratch } from './damage/property.js';
import { type FormatName, Target, tryRounds } from './damage/rounds.js';
import { runStepscope } from './run-stepscope.js';

const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 400);
/** On a slow machine fewer rounds are tried. */
const MOST_MS = 7_000;

for (const format of ['trace', 'export'] as const) {
  test(`${format}s damaged at random, seed ${SEED}: refused, the same figures, or a note`, async context => {
    context.diagnostic(`FUZZ_SEED=${SEED}`);
    const until = process.env.FUZZ_ROUNDS ? undefined : performance.now() + MOST_MS;
    const { rounds, opened, broken } = await tryRounds(format, SEED, ROUNDS, until);
    assert.deepEqual(broken, []);
    // Damage that is always refused would prove nothing.
    assert.ok(opened > rounds / 4, `${opened} of ${rounds} were opened`);
  });
}

test(`dumps of expert loads damaged at random, seed ${SEED}: refused in two lines, or judged in figures`, async () => {
  const scratch = new Scratch('dump');
  const random = seeded(SEED);
  const until = performance.now() + MOST_MS / 2;
  let judged = 0;
  let rounds = 0;
  try {
    for (const names = Object.keys(dumps); rounds < ROUNDS && performance.now() < until; rounds++)
      if (await tryDump(names[rounds % names.length], random, scratch)) judged++;
  } finally {
    scratch.remove();
  }
  assert.ok(judged > rounds / 10, `${judged} of ${rounds} were judged`);
});

test('what damage ever slipped through stays mended', async () => {
  const corpus = JSON.parse(readFileSync(path.join(projectRoot, 'test/damage/corpus.json'), 'utf8')) as {
    format: FormatName;
    capture: string;
    seed: number;
  }[];
  for (const { format, capture, seed } of corpus) {
    const target = await Target.of(format, capture);
    assert.equal(typeof (await target.try(seed)), 'boolean', `${capture}, seed ${seed}`);
    target.done();
  }
});

test('steps whose GPU work was cut off say nothing about what the GPU waits for', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-cut-'));
  try {
    const file = path.join(folder, 'cut.json.gz');
    writeFileSync(file, readFileSync(capturePath('graph', 'kineto.json.gz')).subarray(0, 5000));
    const { out } = await runStepscope(['analyze', file]);
    assert.match(out, /No GPU work was recorded in these steps: cannot tell what the GPU waits for\./);
    assert.doesNotMatch(out, /The GPU waits/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
