/** Time per event must not grow with file size: 1, 10 and 100 times the same capture. */
import { openProfile } from '../src/import/open.js';
import { tableNames } from '../src/model/schema.js';
import { grown, say, type Verdict } from './inputs.js';

const SIZES = [1, 10, 100];
const TOLERANCE = 0.15;

export async function benchGrowth(): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of ['profile.sqlite.gz', 'kineto.json.gz'] as const) {
    const perEvent: number[] = [];
    for (const size of SIZES) {
      const input = grown('eager', file, size);
      // Always one thread: a second one only helps large files and would hide growth.
      const open = () => openProfile([input], { workers: 0 });
      const profile = await open();
      const events = tableNames.reduce((sum, name) => sum + (profile.tables[name]?.length ?? 0), 0);
      const rounds = size === 1 ? 31 : size === 10 ? 11 : 3;
      const runs: number[] = [];
      // The first rounds are JIT warm-up; only the second half counts.
      for (let round = 0; round < rounds * 2; round++) {
        const begun = performance.now();
        await open();
        if (round >= rounds) runs.push(performance.now() - begun);
      }
      runs.sort((a, b) => a - b);
      perEvent.push((runs[rounds >> 1] / events) * 1e6);
      say(`${file} × ${size}: ${events} events, ${perEvent.at(-1)!.toFixed(0)} ns per event`);
    }
    const change = (from: number, to: number) => perEvent[to] / perEvent[from] - 1;
    const steps = [change(0, 1), change(1, 2), change(0, 2)];
    verdicts.push({
      what: `time per event from 1 to 10 to 100 times ${file}`,
      wanted: 'flat within 15%',
      measured: `${perEvent.map(ns => `${ns.toFixed(0)} ns`).join(', ')}${remark(steps)}`,
      met: steps.every(step => Math.abs(step) <= TOLERANCE)
        ? true
        : steps.some(step => step > TOLERANCE)
          ? false
          : undefined,
    });
  }
  return verdicts;
}

/** Falling cost per event is not what the target is about, but it is not flat either: reported, not counted as met. */
function remark(steps: readonly number[]): string {
  const least = Math.min(...steps);
  return least < -TOLERANCE
    ? `: falls by ${(-least * 100).toFixed(0)}%, because more events share the fixed cost of opening`
    : '';
}
