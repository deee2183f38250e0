import { texts, timeSummaryColumns } from './columns.js';
import { apiName } from './gpu-operations.js';
import { byTotal, groupSpans } from './grouping.js';
import type { StatsReport } from './report.js';

export const cudaApiSum: StatsReport = {
  id: 'cuda_api_sum',
  title: 'CUDA API Summary',
  aliases: ['cudaapisum'],
  options: [],
  reads: { apiCalls: [] },
  needs: [['apiCalls']],
  compute(profile) {
    const calls = profile.tables.apiCalls!;
    const groups = groupSpans(calls.name, calls.start, calls.end).sort(byTotal);
    return [
      ...timeSummaryColumns(
        groups.map(group => group.summary),
        'Num Calls',
      ),
      texts('Name', groups, group => apiName(profile.strings.text(group.key))),
    ];
  },
};
