/** Time per event must not grow with the file: 1, 10 and 100 times the same capture. */
import { openProfile } from '../src/import/open.js';
import { tableNames } from '../src/model/schema.js';
import { grown, say, type Verdict } from './inputs.js';

const SIZES = [1, 10, 100];
const TOLERANCE = 1.15;

export async function benchGrowth(): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of ['profile.sqlite.gz', 'kineto.json.gz'] as const) {
    const perEvent: number[] = [];
    for (const size of SIZES) {
      const input = grown('eager', file, size);
      // One thread throughout: a second one only helps large files and would hide growth.
      const open = () => openProfile([input], { workers: 0 });
      const profile = await open();
      const events = tableNames.reduce((sum, name) => sum + (profile.tables[name]?.length ?? 0), 0);
      const rounds = size === 1 ? 31 : size === 10 ? 11 : 3;
      const runs: number[] = [];
      // The first rounds warm the machine code up; only the later half counts.
      for (let round = 0; round < rounds * 2; round++) {
        const begun = performance.now();
        await open();
        if (round >= rounds) runs.push(performance.now() - begun);
      }
      runs.sort((a, b) => a - b);
      perEvent.push((runs[rounds >> 1] / events) * 1e6);
      say(`${file} × ${size}: ${events} events, ${perEvent.at(-1)!.toFixed(0)} ns per event`);
    }
    const worst = Math.max(perEvent[1] / perEvent[0], perEvent[2] / perEvent[0], perEvent[2] / perEvent[1]);
    verdicts.push({
      what: `time per event from 1 to 100 times ${file}`,
      wanted: 'growth of at most 15%',
      measured: `${((worst - 1) * 100).toFixed(0)}% (${perEvent.map(ns => `${ns.toFixed(0)} ns`).join(', ')})`,
      met: worst <= TOLERANCE,
    });
  }
  return verdicts;
}
