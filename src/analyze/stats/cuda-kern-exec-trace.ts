import { orderBy } from '../../base/order.js';
import { column } from './columns.js';
import { dimensionText } from './cuda-gpu-kern-gb-sum.js';
import { apiName, kernelNames } from './gpu-operations.js';
import { kernelLaunches } from './kernel-launches.js';
import { kernelNameOptions, launchShapeColumns, type StatsReport } from './report.js';

export const cudaKernExecTrace: StatsReport = {
  id: 'cuda_kern_exec_trace',
  title: 'CUDA Kernel Launch & Exec Time Trace',
  aliases: ['kernexectrace'],
  options: kernelNameOptions,
  reads: { kernels: launchShapeColumns, apiCalls: [] },
  needs: [['kernels'], ['apiCalls']],
  compute(profile, options) {
    const kernels = profile.tables.kernels!;
    const calls = profile.tables.apiCalls!;
    const launches = kernelLaunches(profile);
    const names = kernelNames(profile, options);
    const order = orderBy(Float64Array.from(launches.call, call => calls.start[call]));
    const number = (value: (i: number) => number) => Float64Array.from(order, value);
    const text = (value: (i: number) => string) => Array.from(order, value);
    const thread = (i: number) => profile.threads[calls.thread[launches.call[i]]];
    return [
      column(
        'API Start (ns)',
        'timestamp',
        number(i => calls.start[launches.call[i]]),
      ),
      column(
        'API Dur (ns)',
        'ns',
        number(i => launches.apiNs[i]),
      ),
      column(
        'Queue Start (ns)',
        'timestamp',
        number(i => (Number.isNaN(launches.queueNs[i]) ? Number.NaN : calls.end[launches.call[i]])),
      ),
      column(
        'Queue Dur (ns)',
        'ns',
        number(i => launches.queueNs[i]),
      ),
      column(
        'Kernel Start (ns)',
        'timestamp',
        number(i => kernels.start[launches.kernel[i]]),
      ),
      column(
        'Kernel Dur (ns)',
        'ns',
        number(i => launches.kernelNs[i]),
      ),
      column(
        'Total Dur (ns)',
        'ns',
        number(i => launches.totalNs[i]),
      ),
      column(
        'PID',
        'id',
        number(i => profile.processes[thread(i).process].pid),
      ),
      column(
        'TID',
        'id',
        number(i => thread(i).tid),
      ),
      column(
        'DevId',
        'id',
        number(i => profile.gpus[profile.streams[kernels.stream[launches.kernel[i]]].gpu].deviceId),
      ),
      column(
        'API Function',
        'text',
        text(i => apiName(profile.strings.text(calls.name[launches.call[i]]))),
      ),
      column(
        'GridXYZ',
        'text',
        text(i => dimensionText(kernels.gridX, kernels.gridY, kernels.gridZ, launches.kernel[i])),
      ),
      column(
        'BlockXYZ',
        'text',
        text(i => dimensionText(kernels.blockX, kernels.blockY, kernels.blockZ, launches.kernel[i])),
      ),
      column(
        'Kernel Name',
        'text',
        text(i => names.text(names.keys[launches.kernel[i]])),
      ),
    ];
  },
};
