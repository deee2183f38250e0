/**
 * What a copy of an export may hold: which tables, which texts in them, and which strings of the pool by who names
 * them. Whatever is not listed is left out, however harmless it looks.
 */
/** What a text is for; where a string is for several things, the lowest number decides. */
export const Role = { kernel: 0, function: 1, range: 2, name: 3, path: 4, payload: 5, none: 6 } as const;

/** NVIDIA writes its tables in capitals behind one of a few words. */
const KNOWN_TABLE =
  /^(?:StringIds|ThreadNames|ProcessStreams|PROCESSES|UnwindMethodType|(?:ANALYSIS|CLOCK|COMPOSITE|CUBLAS|CUDA|CUDLA|CUDNN|CUPTI_ACTIVITY_KIND|D3D1[12]|DEMOTED|DIAGNOSTIC|DX1[12]|ENUM|ETW|EXPORT_META|FECS|GENERIC_EVENT|GPU|IB|KHR|META_DATA|MPI|NCCL|NET|NIC|NV|NVMEDIA|NVTX|NVVIDEO|OPENACC|OPENGL|OPENMP|OPENSHMEM|OPENXR|OSRT|PERF|PMU|PROFILER|PYTHON|QNX|SAMPLING|SCHED|SLI|SOC|SYSCALL|TARGET_INFO|TEGRA|TOTAL|UCX|UCP|VSYNC|VULKAN|WDDM|XMC)_[A-Z0-9_]+)$/;
export const isKnownTable = (name: string): boolean => KNOWN_TABLE.test(name);

/** What a column that holds ids of strings says about them; undefined for columns whose strings nothing reads. */
export function referenceRole(table: string, column: string): number | undefined {
  if (/^(demangledName|shortName|mangledName|kernelName)$/.test(column)) return Role.kernel;
  if (table === 'ThreadNames') return column === 'nameId' ? Role.name : undefined;
  if (/^(GENERIC_EVENT|TARGET_INFO|ANALYSIS)_|^ProcessStreams$/.test(table)) return undefined;
  if (/^textId$/i.test(column)) {
    // Communication libraries keep the names of their functions there.
    if (/^(MPI|UCX|OPENSHMEM|NCCL)_/.test(table)) return Role.function;
    return Role.range;
  }
  if (/^jsonTextId$/i.test(column)) return Role.payload;
  if (/^(?:end)?nameId$|^funcName$|^CpuInstruction$/i.test(column)) return Role.function;
  if (/_CALLCHAINS$/.test(table) && column === 'symbol') return Role.function;
  if (/_CALLCHAINS$/.test(table) && column === 'module') return Role.path;
  return /^srcFile$/.test(column) ? Role.path : undefined;
}

/** Texts that stand in a row itself. */
export type RowText =
  | 'constant'
  | 'diagnostic'
  | 'gpu-name'
  | 'place'
  | 'metric'
  | 'payload'
  | 'process'
  | 'range'
  | 'time';

export function rowText(table: string, column: string): RowText | undefined {
  if (/^ENUM_|^UnwindMethodType$/.test(table)) return 'constant';
  const place = `${table}.${column}`;
  if (place === 'NVTX_EVENTS.text') return 'range';
  if (place === 'NVTX_EVENTS.jsonText') return 'payload';
  if (place === 'PROCESSES.name') return 'process';
  if (place === 'DIAGNOSTIC_EVENT.text') return 'diagnostic';
  if (/^TARGET_INFO_(CUDA_)?GPU\.(name|chipName)$/.test(place)) return 'gpu-name';
  if (place === 'TARGET_INFO_GPU.busLocation') return 'place';
  if (place === 'TARGET_INFO_GPU_METRICS.metricName') return 'metric';
  if (/^TARGET_INFO_SESSION_START_TIME\.(utcTime|localTime)$/.test(place)) return 'time';
  return undefined;
}

/** Metadata of which the value stays when it is a plain word of the profiler's: analyses and NVIDIA's reports read these. */
export const isKnownSetting = (name: string): boolean =>
  /^(?:CAPTURE_EVENT_TYPE|OS_RUNTIME_OPTIONS:[A-Z_]+|CUDA_[A-Z_:]+|COLLECT_[A-Z0-9_]+|(?:START|STOP)_TRIGGER|RUN_DURATION_[A-Z]+|START_DELAY_MS|INCLUDE_CHILDREN|TRACE_[A-Z_]+|[A-Z_]*RATE_HZ|[A-Z_]+_OPTIONS:[A-Z0-9_:]+|DEVICE_TYPE|HOW_TO_ATTACH|EXPORT_[A-Z_]+|(?:Cpu|Cuda|Has|Is|Linux|Nv|Supported|Supports|Hardware|Software|Os|Export)[A-Za-z0-9]*)$/.test(
    name,
  );
