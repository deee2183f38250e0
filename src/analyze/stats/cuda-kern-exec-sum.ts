import { TupleIndex } from '../../base/tuple-index.js';
import { type Summary, summarize } from '../../stats/summary.js';
import { numbers, spreadColumns, texts } from './columns.js';
import { apiName, apiNameKeys, kernelNames } from './gpu-operations.js';
import { groupValues } from './grouping.js';
import { kernelLaunches } from './kernel-launches.js';
import { kernelNameOptions, type StatsReport } from './report.js';

export const cudaKernExecSum: StatsReport = {
  id: 'cuda_kern_exec_sum',
  title: 'CUDA Kernel Launch & Exec Time Summary',
  aliases: ['kernexecsum'],
  options: kernelNameOptions,
  reads: { kernels: [], apiCalls: [] },
  needs: [['kernels'], ['apiCalls']],
  compute(profile, options) {
    const kernels = profile.tables.kernels!;
    const calls = profile.tables.apiCalls!;
    const launches = kernelLaunches(profile);
    const names = kernelNames(profile, options);
    const device = (i: number) =>
      profile.gpus[profile.streams[kernels.stream[launches.kernel[i]]].gpu].deviceId;
    const thread = (i: number) => profile.threads[calls.thread[launches.call[i]]];
    const apiKey = apiNameKeys(profile);
    const keys = new TupleIndex();
    const keyOf = Int32Array.from({ length: launches.length }, (_, i) =>
      keys.intern(
        calls.thread[launches.call[i]],
        device(i),
        apiKey[launches.call[i]],
        names.keys[launches.kernel[i]],
      ),
    );
    const by = (values: Float64Array) => groupValues(keyOf, values);
    const total = by(launches.totalNs);
    const api = by(launches.apiNs);
    const kernel = by(launches.kernelNs);
    const queue = queueSummaries(keyOf, launches.queueNs);
    const rows = total
      .map((group, g) => ({
        ...group,
        api: api[g].summary,
        kernel: kernel[g].summary,
        queue: queue.get(group.key) ?? nothing,
      }))
      .sort((a, b) => b.summary.mean - a.summary.mean);
    const name = (i: number) => apiName(profile.strings.text(calls.name[launches.call[i]]));
    const pick = (phase: (row: (typeof rows)[number]) => Summary, prefix: string) =>
      spreadColumns(rows.map(phase), prefix);
    return [
      numbers('PID', 'id', rows, r => profile.processes[thread(r.row).process].pid),
      numbers('TID', 'id', rows, r => thread(r.row).tid),
      numbers('DevId', 'id', rows, r => device(r.row)),
      numbers('Count', 'count', rows, r => r.summary.count),
      numbers('QCount', 'count', rows, r => r.queue.count),
      ...pick(r => r.summary, 'T'),
      ...pick(r => r.api, 'A'),
      ...pick(r => r.queue, 'Q'),
      ...pick(r => r.kernel, 'K'),
      texts('API Name', rows, r => name(r.row)),
      texts('Kernel Name', rows, r => names.text(names.keys[launches.kernel[r.row]])),
    ];
  },
};

const nothing = summarize(new Float64Array(0));

/** Queue times only count where there is one. */
function queueSummaries(keys: Int32Array, queueNs: Float64Array): Map<number, Summary> {
  const queued = (_: number, i: number) => !Number.isNaN(queueNs[i]);
  const groups = groupValues(keys.filter(queued), queueNs.filter(queued));
  return new Map(groups.map(group => [group.key, group.summary]));
}
