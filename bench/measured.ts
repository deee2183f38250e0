/**
 * One measured run in its own process, so that peak memory covers only this run.
 *
 *   node measured.js cli ARGUMENTS…     the command itself
 *   node measured.js open FILE          opens every table of the file and sums its kernels
 *   node measured.js import FILE        opens only what the analyses read
 *   node measured.js loads FILE         reads expert loads to the end
 *
 * Writes { wallMs, peakBytes } to descriptor 3.
 */
import { writeSync } from 'node:fs';
import { tablesReadBy } from '../src/analyze/analysis.js';
import { analyses } from '../src/analyze/index.js';
import { chooseReport } from '../src/analyze/stats/index.js';
import { runReport } from '../src/analyze/stats/report.js';
import { run } from '../src/cli/main.js';
import { openLoads } from '../src/import/expert-load/open-loads.js';
import { openProfile } from '../src/import/open.js';
import { collectLoads } from '../src/moe/loads/load-collector.js';

const [mode, ...args] = process.argv.slice(2);
if (mode === 'cli') await run(args);
else if (mode === 'import') await openProfile(args, { tables: tablesReadBy(analyses) });
else if (mode === 'loads') {
  const { loads } = await openLoads(args);
  if (loads?.kind !== 'counts') throw new Error('no counts');
  const { iterations, layers } = await collectLoads(loads);
  process.stdout.write(`${iterations} iterations of ${layers.length} layers\n`);
} else {
  const profile = await openProfile(args);
  const { report, options } = chooseReport('cuda_gpu_kern_sum');
  const block = runReport(report, profile, options);
  process.stdout.write(`${block.kind === 'table' ? block.rows : 0} kernels by name\n`);
}
const peakBytes = process.resourceUsage().maxRSS * 1024;
writeSync(3, JSON.stringify({ wallMs: performance.now(), peakBytes }));
