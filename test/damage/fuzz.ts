/**
 * `npm run fuzz -- --minutes N [--seed S]`: damages every capture for that long, at least 10,000 times per format, and
 * says which seeds break a promise. What it finds goes into test/damage/corpus.json once it is mended.
 */
import { parseArgs } from 'node:util';
import { type Broken, type FormatName, tryRounds } from './rounds.js';

const LEAST_ROUNDS = 10_000;
const BATCH = 1000;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? 10);
const first = Number(values.seed ?? Date.now() % 2 ** 31);
if (!(minutes > 0) || !Number.isSafeInteger(first)) {
  process.stderr.write('usage: npm run fuzz -- --minutes N [--seed S]\n');
  process.exit(2);
}
const say = (text: string) => process.stdout.write(`${text}\n`);

const until = performance.now() + minutes * 60_000;
const done: Record<FormatName, number> = { trace: 0, export: 0 };
const broken: Broken[] = [];
say(`seed ${first}`);
const isMore = () => performance.now() < until || Math.min(done.trace, done.export) < LEAST_ROUNDS;
for (let seed = first; isMore(); seed += BATCH) {
  for (const format of ['trace', 'export'] as const) {
    const tried = await tryRounds(format, seed, BATCH);
    done[format] += tried.rounds;
    for (const one of tried.broken) say(`BROKEN ${one.format} ${one.capture} seed ${one.seed}: ${one.why}`);
    broken.push(...tried.broken);
  }
  say(`${done.trace} traces, ${done.export} exports, ${broken.length} broken`);
}
process.exitCode = broken.length > 0 ? 1 : 0;
