import { RangeKind } from '../../model/schema.js';
import { nvtxSummary } from './nvtx-summary.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxSum: StatsReport = {
  id: 'nvtx_sum',
  title: 'NVTX Range Summary',
  aliases: ['nvtxsum'],
  options: [],
  reads: { ranges: rangeColumns },
  needs: [['ranges']],
  compute: profile => nvtxSummary(profile, [RangeKind.pushPop, RangeKind.startEnd], true),
};
