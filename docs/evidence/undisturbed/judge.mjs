/**
 * Holds the estimate of the undisturbed step against measured ones.
 *
 *   node docs/evidence/undisturbed/judge.mjs FOLDER [half=fit] [apiCallNs=8000 …]
 *
 * FOLDER has a folder for each run: its profile, and key.json with the step before the window (`quietMs`).
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Analyzer } from '../../../dist/src/analyze/analysis.js';
import { noProfiler } from '../../../dist/src/analyze/whatif/changes/no-profiler.js';
import { predictPhases } from '../../../dist/src/analyze/whatif/predict.js';
import { tracingCosts } from '../../../dist/src/catalog/tracing-cost.js';
import { openProfile } from '../../../dist/src/import/open.js';

const [folder, ...words] = process.argv.slice(2);
const given = Object.fromEntries(words.map(word => word.split('=')));
const sumOf = parts => [...parts.values()].reduce((sum, ns) => sum + ns, 0) / 1e6;
const rows = [];
for (const name of fs.readdirSync(folder).sort()) {
  const key = JSON.parse(fs.readFileSync(path.join(folder, name, 'key.json'), 'utf8'));
  if ((given.half && key.half !== given.half) || (given.only && !name.includes(given.only))) continue;
  const file = fs.readdirSync(path.join(folder, name)).find(each => each.endsWith('.gz'));
  try {
    const profile = await openProfile([path.join(folder, name, file)]);
    const analyzer = new Analyzer(profile, {});
    const cost = { ...tracingCosts[profile.capture.profiler] };
    for (const amount of Object.keys(cost)) if (given[amount]) cost[amount] = Number(given[amount]);
    const found = predictPhases(analyzer, [noProfiler], { tracingCost: cost });
    const main = found.find(({ from }) => from) ?? found[0];
    if (!main?.from) {
      rows.push([name, key, main?.cannotTell]);
      continue;
    }
    rows.push([name, key, sumOf(main.from), sumOf(main.to), main.phase]);
  } catch (error) {
    rows.push([name, key, String(error.message ?? error)]);
  }
}
let worst = 0;
for (const [name, key, from, to, phase] of rows) {
  if (typeof from !== 'number') {
    console.log(name.padEnd(50), from);
    continue;
  }
  const error = to / key.quietMs - 1;
  const spread = key.quietP90 ? (key.quietP90 - key.quietP10) / key.quietMs : 0;
  worst = Math.max(worst, Math.abs(error));
  console.log(
    name.padEnd(50),
    key.half.padEnd(6),
    phase.padEnd(8),
    `profiled ${from.toFixed(2)} (clock ${key.profiledMs?.toFixed(2)})  estimated ${to.toFixed(2)}  measured ${key.quietMs.toFixed(2)}`,
    `${(100 * error).toFixed(1)}%`.padStart(7),
    spread > 0.2 ? '  host not steady' : '',
  );
}
