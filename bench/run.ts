/**
 * `npm run bench`: compares Stepscope with its peers, in one run on this machine. A ratio is only meaningful if both
 * sides run under the same conditions, so every line measures both. Medians, because machines are noisy.
 *
 *   npm run bench -- stats small kineto analyze frames compare growth view ranks moe fleet     only these parts
 */
import { benchAnalyze } from './analyze.js';
import { benchCompare } from './compare.js';
import { benchFleet } from './fleet.js';
import { benchFrames } from './frames.js';
import { benchGrowth } from './growth.js';
import { say, type Verdict } from './inputs.js';
import { benchKineto } from './kineto.js';
import { benchMoe } from './moe.js';
import { benchSmall } from './small.js';
import { benchStats } from './stats.js';
import { benchView } from './view.js';
import { benchRanks } from './view-ranks.js';

const parts: Record<string, () => Promise<Verdict[]> | Verdict[]> = {
  stats: benchStats,
  small: benchSmall,
  kineto: benchKineto,
  analyze: benchAnalyze,
  frames: benchFrames,
  compare: benchCompare,
  growth: benchGrowth,
  view: benchView,
  ranks: benchRanks,
  moe: benchMoe,
  fleet: benchFleet,
};

const chosen = process.argv.slice(2);
const verdicts: Verdict[] = [];
for (const [name, part] of Object.entries(parts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  say(`\n== ${name}`);
  verdicts.push(...(await part()));
}
say('\n== summary');
for (const { what, wanted, measured, met } of verdicts) {
  say(`${met === undefined ? '  –  ' : met ? ' met ' : 'MISSED'}  ${what}: ${measured} (wanted ${wanted})`);
}
process.exitCode = verdicts.some(verdict => verdict.met === false) ? 1 : 0;
