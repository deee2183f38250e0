import { orderBy } from '../../base/order.js';
import { numbers, texts } from './columns.js';
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
    const thread = (i: number) => profile.threads[calls.thread[launches.call[i]]];
    return [
      numbers('API Start (ns)', 'timestamp', order, i => calls.start[launches.call[i]]),
      numbers('API Dur (ns)', 'ns', order, i => launches.apiNs[i]),
      numbers('Queue Start (ns)', 'timestamp', order, i =>
        Number.isNaN(launches.queueNs[i]) ? Number.NaN : calls.end[launches.call[i]],
      ),
      numbers('Queue Dur (ns)', 'ns', order, i => launches.queueNs[i]),
      numbers('Kernel Start (ns)', 'timestamp', order, i => kernels.start[launches.kernel[i]]),
      numbers('Kernel Dur (ns)', 'ns', order, i => launches.kernelNs[i]),
      numbers('Total Dur (ns)', 'ns', order, i => launches.totalNs[i]),
      numbers('PID', 'id', order, i => profile.processes[thread(i).process].pid),
      numbers('TID', 'id', order, i => thread(i).tid),
      numbers(
        'DevId',
        'id',
        order,
        i => profile.gpus[profile.streams[kernels.stream[launches.kernel[i]]].gpu].deviceId,
      ),
      texts('API Function', order, i => apiName(profile.strings.text(calls.name[launches.call[i]]))),
      texts('GridXYZ', order, i =>
        dimensionText(kernels.gridX, kernels.gridY, kernels.gridZ, launches.kernel[i]),
      ),
      texts('BlockXYZ', order, i =>
        dimensionText(kernels.blockX, kernels.blockY, kernels.blockZ, launches.kernel[i]),
      ),
      texts('Kernel Name', order, i => names.text(names.keys[launches.kernel[i]])),
    ];
  },
};
