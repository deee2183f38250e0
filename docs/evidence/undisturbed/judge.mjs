/**
 * Holds the estimate of the undisturbed step against measured ones.
 *
 *   node docs/evidence/undisturbed/judge.mjs FOLDER [half=fit] [apiCall=0.5 …]
 *
 * FOLDER has a folder for each run: its profile, and key.json with the step before the window (`quietMs`).
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Analyzer } from '../../../dist/src/analyze/analysis.js';
import { iterations } from '../../../dist/src/analyze/inference/iterations.js';
import { undisturbedStep } from '../../../dist/src/analyze/undisturbed/undisturbed-step.js';
import { tracingCosts } from '../../../dist/src/catalog/tracing-cost.js';
import { openProfile } from '../../../dist/src/import/open.js';

const [folder, ...words] = process.argv.slice(2);
const given = Object.fromEntries(words.map(word => word.split('=')));
const amounts = Object.fromEntries(
  Object.entries(given).flatMap(([name, value]) =>
    Number.isFinite(Number(value)) ? [[name, Number(value)]] : [],
  ),
);
const countOf = (analyzer, { phase }) =>
  analyzer.get(iterations).rows.filter(row => row.selected && row.phase === phase).length;
const rows = [];
for (const name of fs.readdirSync(folder).sort()) {
  const key = JSON.parse(fs.readFileSync(path.join(folder, name, 'key.json'), 'utf8'));
  if ((given.half && key.half !== given.half) || (given.only && !name.includes(given.only))) continue;
  const file = fs.readdirSync(path.join(folder, name)).find(each => each.endsWith('.gz'));
  try {
    const profile = await openProfile([path.join(folder, name, file)]);
    Object.assign(tracingCosts[profile.capture.profiler], amounts);
    const analyzer = new Analyzer(profile, {});
    const found = [...analyzer.get(undisturbedStep).rows].sort(
      (a, b) => countOf(analyzer, b) - countOf(analyzer, a),
    );
    rows.push([name, key, found[0]]);
  } catch (error) {
    rows.push([name, key, String(error.message ?? error)]);
  }
}
let [covered, close, judged] = [0, 0, 0];
for (const [name, key, row] of rows) {
  if (typeof row !== 'object') {
    console.log(name.padEnd(50), row ?? 'no estimate');
    continue;
  }
  const [profiled, without, low, high] = [row.profiledNs, row.undisturbedNs, row.lowNs, row.highNs].map(
    ns => ns / 1e6,
  );
  const error = without / key.quietMs - 1;
  const isUnsteady = key.quietP90 && (key.quietP90 - key.quietP10) / key.quietMs > 0.2;
  const holds = key.quietMs >= low && key.quietMs <= high;
  if (!isUnsteady) {
    judged++;
    covered += Number(holds);
    close += Number(Math.abs(error) <= 0.1);
  }
  const words = [
    `profiled ${profiled.toFixed(2)} (clock ${key.profiledMs?.toFixed(2)})`,
    `estimated ${without.toFixed(2)}, ${low.toFixed(2)} to ${high.toFixed(2)}`,
    `measured ${key.quietMs.toFixed(2)}`,
    `${(100 * error).toFixed(1)}%${holds ? '' : ' outside'}${isUnsteady ? ', host not steady' : ''}`,
  ];
  console.log(name.padEnd(50), key.half.padEnd(6), row.phase.padEnd(8), words.join('  '));
}
console.log(`steady hosts: ${judged} runs, ${close} within 10%, ${covered} inside the interval`);
