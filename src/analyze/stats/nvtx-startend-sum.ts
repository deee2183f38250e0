import { RangeKind } from '../../model/schema.js';
import { nvtxSummary } from './nvtx-summary.js';
import { rangeColumns, type StatsReport } from './report.js';

export const nvtxStartendSum: StatsReport = {
  id: 'nvtx_startend_sum',
  title: 'NVTX Start/End Range Summary',
  aliases: ['nvtxsesum', 'nvtxsssum'],
  options: [],
  reads: { ranges: rangeColumns },
  needs: [['ranges']],
  compute: profile => nvtxSummary(profile, [RangeKind.startEnd], false),
};
