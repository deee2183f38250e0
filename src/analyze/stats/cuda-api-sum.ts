import { texts, timeSummaryColumns } from './columns.js';
import { apiName, cells } from './gpu-operations.js';
import { byTotal, groupByNumber } from './grouping.js';
import type { StatsReport } from './report.js';

export const cudaApiSum: StatsReport = {
  id: 'cuda_api_sum',
  title: 'CUDA API Summary',
  aliases: ['cudaapisum'],
  options: [],
  reads: { apiCalls: [] },
  needs: ['apiCalls'],
  compute(profile) {
    const calls = cells(profile, 'apiCalls')!;
    const groups = groupByNumber(
      calls.length,
      row => calls.name[row],
      row => calls.end[row] - calls.start[row],
    ).sort(byTotal);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Num Calls',
      ),
      texts('Name', groups, group => apiName(profile.strings.text(group.key))),
    ];
  },
};
