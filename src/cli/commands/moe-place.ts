import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { proportional } from '../../moe/cost/expert-time.js';
import { fitFromProfile } from '../../moe/cost/fit-profile.js';
import { measureExperts } from '../../moe/cost/measured-experts.js';
import { trafficRows } from '../../moe/cost/traffic-rows.js';
import { describePlans } from '../../moe/describe/describe-plans.js';
import { plansCsv, plansDocument } from '../../moe/describe/plans-document.js';
import { mappingFormats } from '../../moe/placement/export-mapping.js';
import { placeBy, planLayers } from '../../moe/placement/plan-layers.js';
import { sweep } from '../../moe/placement/sweep.js';
import { define } from '../command.js';
import { machineOf } from '../moe/machine.js';
import { noCounts, readMoeFiles } from '../moe/read-moe.js';
import { machineOptions } from '../options.js';
import { writeResult } from '../write-result.js';

export const moePlace = define({
  usage: ['FILE… --gpus N [--replicas N] [--for ENGINE[,ENGINE…] -o FOLDER] [options]'],
  options: [
    ...machineOptions,
    ...(['for', 'mappings', 'force', 'sweep', 'tokens', 'hidden', 'topGroups', 'topK'] as const),
  ],
  formats: ['table', 'json', 'csv', 'markdown'],
  examples: [
    ['stepscope moe place loads.npy --gpus 32 --sweep', 'every method, on a range of machine sizes'],
    [
      'stepscope moe place loads.npy --gpus 32 --nodes 4 --replicas 32 --groups 8 --for trtllm,sglang -o maps',
      'write mappings that the engines can load',
    ],
  ],
  async run({ values, given, output, emit }) {
    const engines = values.for.flat();
    if (engines.length === 0 && values.mappings !== undefined)
      throw new UserError('usage', '-o needs an engine to write for.', 'Add --for trtllm,sglang');
    const settings = machineOf(values);
    const { summary, profile } = await readMoeFiles(given, settings, output);
    if (!summary) throw noCounts(given[0]);
    const { gpus = summary.ranks ?? 8, nodes = 1, replicas = 0, groups } = settings;
    const places = replicas > 0 ? summary.experts + replicas : Math.ceil(summary.experts / gpus) * gpus;
    const shape = { gpus, nodes, places, ...(groups === undefined ? {} : { groups }) };
    const inOrder = () =>
      placeBy('plain', summary.totals.subarray(0, summary.experts), { ...shape, nodes: 1 });
    const time = settings.time ?? (profile && fitFromProfile(summary, profile, inOrder())) ?? proportional;
    const expertShare = settings.expertShare ?? (profile && measureExperts(profile).expertShare);
    const onProgress = (done: number) => output.progress('placing experts', done);
    const plans = planLayers(summary, shape, time, { onProgress });
    output.clearProgress();
    const best = plans.plans.reduce((a, b) => (b.cost.ns < a.cost.ns ? b : a));
    const traffic = trafficRows(summary, plans, values);
    const swept = values.sweep ? sweep(summary, time) : [];
    await emit({
      blocks: () => describePlans({ summary, plans, best, traffic, swept, about: time.about, expertShare }),
      document: () => plansDocument(given, { summary, plans, traffic, swept }),
      csv: () => plansCsv(summary, plans),
    });
    const folder = values.mappings ?? '.';
    if (engines.length > 0) fs.mkdirSync(folder, { recursive: true });
    const { layers, recordedLayers } = summary;
    for (const engine of engines) {
      const { file, write } = mappingFormats[engine];
      const content = write({ layers, recordedLayers, placements: best.placements });
      writeResult(path.join(folder, file), content, values.force, output);
    }
    return 0;
  },
});
