/** The registry of summary reports and rules: one line each. */
import { closestWord } from '../../base/closest-word.js';
import { UserError } from '../../base/user-error.js';
import type { Profile } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import { cudaApiGpuSum } from './cuda-api-gpu-sum.js';
import { cudaApiSum } from './cuda-api-sum.js';
import { cudaApiSync } from './cuda-api-sync.js';
import { cudaApiTrace } from './cuda-api-trace.js';
import { cudaGpuKernGbSum } from './cuda-gpu-kern-gb-sum.js';
import { cudaGpuKernSum } from './cuda-gpu-kern-sum.js';
import { cudaGpuMemSizeSum } from './cuda-gpu-mem-size-sum.js';
import { cudaGpuMemTimeSum } from './cuda-gpu-mem-time-sum.js';
import { cudaGpuSum } from './cuda-gpu-sum.js';
import { cudaGpuTrace } from './cuda-gpu-trace.js';
import { cudaKernExecSum } from './cuda-kern-exec-sum.js';
import { cudaKernExecTrace } from './cuda-kern-exec-trace.js';
import { cudaMemcpyAsync } from './cuda-memcpy-async.js';
import { cudaMemcpySync } from './cuda-memcpy-sync.js';
import { cudaMemsetSync } from './cuda-memset-sync.js';
import { gpuGaps } from './gpu-gaps.js';
import { gpuTimeUtil } from './gpu-time-util.js';
import { mpiEventSum, openaccSum, openmpSum, vulkanApiSum } from './host-event-sums.js';
import { markerSums } from './marker-sums.js';
import { nvtxGpuProjSum } from './nvtx-gpu-proj-sum.js';
import { nvtxGpuProjTrace } from './nvtx-gpu-proj-trace.js';
import { nvtxKernSum } from './nvtx-kern-sum.js';
import { nvtxPushpopSum } from './nvtx-pushpop-sum.js';
import { nvtxPushpopTrace } from './nvtx-pushpop-trace.js';
import { nvtxStartendSum } from './nvtx-startend-sum.js';
import { nvtxSum } from './nvtx-sum.js';
import { osrtSum } from './osrt-sum.js';
import { defaultOptions, isRecorded, type ReportOptions, type StatsReport, tablesRead } from './report.js';
import { umCpuPageFaultsSum, umSum, umTotalSum } from './um-sums.js';
import { vulkanApiTrace } from './vulkan-api-trace.js';

/** Those of `nsys analyze`. */
export const analyzeRules: readonly StatsReport[] = [
  gpuGaps,
  gpuTimeUtil,
  cudaApiSync,
  cudaMemcpyAsync,
  cudaMemcpySync,
  cudaMemsetSync,
];

export const statsReports: readonly StatsReport[] = [
  cudaGpuKernSum,
  cudaGpuKernGbSum,
  cudaGpuMemTimeSum,
  cudaGpuMemSizeSum,
  cudaGpuSum,
  cudaGpuTrace,
  cudaApiSum,
  cudaApiTrace,
  cudaApiGpuSum,
  cudaKernExecSum,
  cudaKernExecTrace,
  nvtxSum,
  nvtxPushpopSum,
  nvtxPushpopTrace,
  nvtxStartendSum,
  nvtxGpuProjSum,
  nvtxGpuProjTrace,
  nvtxKernSum,
  osrtSum,
  openmpSum,
  openaccSum,
  mpiEventSum,
  umSum,
  umTotalSum,
  umCpuPageFaultsSum,
  vulkanApiSum,
  vulkanApiTrace,
  ...markerSums,
  ...analyzeRules,
];

/** What `nsys stats` prints where no report is asked for, but for the queues of Windows. */
export const defaultReports = [
  ...['nvtx_sum', 'osrt_sum', 'cuda_api_sum', 'cuda_gpu_kern_sum'],
  ...['cuda_gpu_mem_time_sum', 'cuda_gpu_mem_size_sum', 'openmp_sum'],
  ...['opengl_khr_range_sum', 'opengl_khr_gpu_range_sum', 'vulkan_marker_sum', 'vulkan_gpu_marker_sum'],
  ...['dx11_pix_sum', 'dx12_gpu_marker_sum', 'dx12_pix_sum'],
  ...['um_sum', 'um_total_sum', 'um_cpu_page_faults_sum', 'openacc_sum'],
];

/** What most people open a profile for: where it is missing, they want to know how to record it. */
const expected = ['nvtx_sum', 'cuda_api_sum', 'cuda_gpu_kern_sum', 'cuda_gpu_mem_time_sum'];

/** Of reports that nobody asked for, those that have something to say. */
export const worthPrinting = (chosen: readonly ChosenReport[], profile: Profile): readonly ChosenReport[] =>
  chosen.filter(({ report }) => expected.includes(report.id) || isRecorded(report, profile));

/** Names that guides and older habits use for a report of nsys, which nsys itself does not know. */
const otherNames: Readonly<Record<string, string>> = {
  cuda_kern_sum: 'cuda_gpu_kern_sum',
  cuda_kernel_sum: 'cuda_gpu_kern_sum',
  gpu_kern_sum: 'cuda_gpu_kern_sum',
  cuda_mem_time_sum: 'cuda_gpu_mem_time_sum',
  cuda_mem_size_sum: 'cuda_gpu_mem_size_sum',
  cuda_trace: 'cuda_gpu_trace',
};

export interface ChosenReport {
  /** Set where it was asked for by a name that nsys does not have. */
  readonly misnamed?: string;
  /** As asked for, options included: names output files. */
  readonly request: string;
  readonly report: StatsReport;
  readonly options: ReportOptions;
}

/** What the chosen reports read, and nothing else. */
export function tablesOfReports(chosen: readonly ChosenReport[]): Map<TableName, string[]> {
  const tables = new Map<TableName, string[]>();
  for (const { report, options } of chosen)
    for (const [table, columns] of Object.entries(tablesRead(report, options)) as [TableName, string[]][])
      tables.set(table, [...(tables.get(table) ?? []), ...columns]);
  return tables;
}

/** Reads `cuda_gpu_kern_sum:base` and the like. */
export function chooseReport(request: string): ChosenReport {
  const [asked, ...given] = request.split(':');
  const meant = Object.hasOwn(otherNames, asked) ? otherNames[asked] : undefined;
  if (meant !== undefined) return { ...chooseReport([meant, ...given].join(':')), misnamed: asked };
  const name = asked;
  const report = statsReports.find(known => known.id === name || known.aliases.includes(name));
  if (!report) {
    const slip = closestWord(
      name,
      statsReports.map(({ id }) => id),
    );
    const close = statsReports.filter(({ id }) =>
      slip === undefined ? id.includes(name) || shareWords(id, name) : id === slip,
    );
    throw new UserError(
      'usage',
      `Unknown report ${JSON.stringify(name)}.`,
      `${close.length > 0 ? `Did you mean ${close.map(known => known.id).join(', ')}? ` : ''}List them with: stepscope stats --list`,
    );
  }
  let options: ReportOptions = defaultOptions;
  for (const option of given) {
    const [key, value] = option.split('=');
    if (!report.options.includes(key)) {
      throw new UserError(
        'usage',
        `${report.id} has no option ${JSON.stringify(option)}.`,
        report.options.length > 0
          ? `It takes: ${report.options.map(o => `:${o}`).join(' ')}`
          : 'It takes no options.',
      );
    }
    if (key === 'base' || key === 'mangled') options = { ...options, kernelName: key };
    else if (key === 'nvtx-name') options = { ...options, nvtxName: true };
    else if (value === undefined || !Number.isFinite(Number(value))) {
      throw new UserError(
        'usage',
        `The option :${key} needs a number.`,
        `For example: -r ${report.id}:${key}=10`,
      );
    } else options = { ...options, numbers: { ...options.numbers, [key]: Number(value) } };
  }
  return { request, report, options };
}

function shareWords(id: string, name: string): boolean {
  const words = new Set(id.split('_'));
  return name.split(/[_-]/).filter(word => words.has(word)).length >= 2;
}
