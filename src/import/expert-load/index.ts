/** The registry of formats of expert loads: one line per format. */
import { agent } from './agent.js';
import { balanceLog } from './balance-log.js';
import { csvLoads } from './csv.js';
import { jsonCounts } from './json-counts.js';
import type { LoadContent } from './load-content.js';
import type { LoadImporter } from './load-importer.js';
import { npy } from './npy.js';
import { sglangPt } from './sglang-pt.js';
import { trtllmCalibration } from './trtllm-calibration.js';
import { trtllmStatistic } from './trtllm-statistic.js';

export const loadImporters: readonly LoadImporter[] = [
  npy,
  jsonCounts,
  csvLoads,
  trtllmStatistic,
  trtllmCalibration,
  sglangPt,
  agent,
  balanceLog,
];

export const loadImporterFor = (content: LoadContent): LoadImporter | undefined =>
  loadImporters.find(importer => importer.recognizes(content));
