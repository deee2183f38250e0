import { RangeKind } from '../../model/schema.js';
import { nvtxSummary } from './nvtx-summary.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxPushpopSum: StatsReport = {
  id: 'nvtx_pushpop_sum',
  title: 'NVTX Push/Pop Range Summary',
  aliases: ['nvtxppsum'],
  options: [],
  reads: { ranges: rangeColumns },
  needs: [['ranges']],
  compute: profile => nvtxSummary(profile, [RangeKind.pushPop], false),
};
