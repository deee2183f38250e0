/** Damaged dumps of expert loads: refused in two lines or judged in figures, at once, alone or two together. */
import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { npyOf, numbersAs, torchSaved } from '../../src/testing/load-files.js';
import { runStepscope } from '../run-stepscope.js';
import { commonDamages, damage, type Random, textDamages } from './mutations.js';
import { checkWords } from './output-words.js';
import type { Scratch } from './property.js';

const SLOW_MS = 3000;
const LAYERS = 4;
const EXPERTS = 8;
const PASSES = 6;

const counts = Array.from({ length: PASSES * LAYERS * EXPERTS }, (_, i) => (i * 7919) % 97);
const pass = (n: number) => counts.slice(n * LAYERS * EXPERTS, (n + 1) * LAYERS * EXPERTS);
const rows = (numbers: readonly number[]) =>
  Array.from({ length: LAYERS }, (_, layer) => numbers.slice(layer * EXPERTS, (layer + 1) * EXPERTS));

/** One dump of each format, by the ending it has. */
export const dumps: Readonly<Record<string, () => Uint8Array>> = {
  'counts.npy': () => npyOf('<i8', [PASSES, LAYERS, EXPERTS], counts),
  'ids.npy': () =>
    npyOf(
      '<i4',
      [200, 4],
      counts
        .concat(counts)
        .concat(counts, counts, counts)
        .slice(0, 800)
        .map(n => n % EXPERTS),
    ),
  'counts.json': () =>
    Buffer.from(JSON.stringify({ logical_count: Array.from({ length: PASSES }, (_, n) => rows(pass(n))) })),
  'counts.csv': () =>
    Buffer.from(
      `iteration,layer,${Array.from({ length: EXPERTS }, (_, i) => i).join(',')}\n${Array.from(
        { length: PASSES },
        (_, n) =>
          rows(pass(n))
            .map((row, layer) => `${n},${layer},${row.join(',')}\n`)
            .join(''),
      ).join('')}`,
    ),
  'calibration.json': () =>
    Buffer.from(
      JSON.stringify({
        world_size: 2,
        all_ranks_records: [0, 1].map(rank => [
          {
            iteration: 7,
            metadata: [{ layer_idx: 3, num_slots: 8, token_selected_slots_shape: [50, 2] }],
            raw_data: deflateSync(
              numbersAs(
                '<i4',
                counts.slice(rank, 100 + rank).map(n => n % 8),
              ),
            ).toString('base64'),
          },
        ]),
      }),
    ),
  'agent.json': () =>
    Buffer.from(
      JSON.stringify({
        stepscopeExpertLoad: 1,
        rank: 0,
        iterations: Array.from({ length: PASSES }, (_, n) => n + 10),
        iterationsLeftOut: 0,
        layers: Array.from({ length: LAYERS }, (_, index) => ({
          index,
          module: `m.${index}`,
          experts: EXPERTS,
          topK: 2,
        })),
        experts: EXPERTS,
        counts: Array.from({ length: PASSES }, (_, n) => rows(pass(n))),
      }),
    ),
  'vllm.log': () =>
    Buffer.from(
      'INFO EPLB step: 12 for model m: avg_tokens=100.00, max_tokens=200, balancedness=0.5000\n'.repeat(4),
    ),
  'logical.pt': () => torchSaved({ logical_count: { shape: [PASSES, LAYERS, EXPERTS], values: counts } }),
  'records.pt': () =>
    torchSaved({
      records: Array.from({ length: PASSES }, (_, n) => ({
        forward_pass_id: n,
        rank: 0,
        global_physical_count: { shape: [LAYERS, EXPERTS], values: pass(n) },
      })),
      last_physical_to_logical_map: {
        shape: [LAYERS, EXPERTS],
        values: pass(0).map((_, i) => i % EXPERTS),
      },
    }),
};

/** Damages one dump, and gives it to `moe` beside a sound one every third time. */
export async function tryDump(name: string, random: Random, scratch: Scratch): Promise<boolean> {
  const { bytes } = damage(/\.(?:json|csv)$/.test(name) ? textDamages : commonDamages, dumps[name](), random);
  const file = scratch.write(bytes, name);
  const files = random() < 0.33 ? [file, scratch.write(dumps[name](), `other-${name}`)] : [file];
  return checkDumps(files);
}

export async function checkDumps(files: readonly string[]): Promise<boolean> {
  const begun = performance.now();
  const { status, out, err } = await runStepscope([
    'moe',
    ...files,
    ...(/counts\.npy$/.test(files[0]) ? ['--as', 'counts'] : []),
  ]);
  assert.ok(performance.now() - begun < SLOW_MS, 'took too long');
  if (status !== 0) assert.equal(err.trimEnd().split('\n').length, 2, err);
  checkWords(out + err);
  return status === 0;
}
