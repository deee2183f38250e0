/**
 * What a trace says about itself outside its events. Only the keys named here are kept: programs can add any text
 * (`add_metadata_json`), and some add their whole environment.
 */
import type { NoteCounter } from '../../../base/notes.js';
import { profilers } from '../../../catalog/profilers.js';
import type { ProcessGroup, ProfilerKind } from '../../../model/profile.js';
import { EnvironmentCounter } from '../../environment.js';
import { countEnvironment } from './metadata-environment.js';

interface DeviceProperties {
  id: number;
  name: string;
  memoryBytes?: number;
  smCount?: number;
  computeCapability?: string;
}

/** A run of thousands of ranks has as many groups, and each file lists those it is in. */
const MAX_GROUPS = 1024;
const MAX_METADATA_BYTES = 16 * 1024 * 1024;
const settingKeys = new Set(['record_shapes', 'profile_memory', 'with_stack', 'with_flops', 'with_modules']);
const versionKeys: Record<string, string> = {
  cuda_driver_version: 'cuda_driver',
  cuda_runtime_version: 'cuda_runtime',
  cupti_version: 'cupti',
  hip_driver_version: 'hip_driver',
  hip_runtime_version: 'hip_runtime',
  roctracer_version: 'roctracer',
  rocprofiler_version: 'rocprofiler',
  nccl_version: 'nccl',
  pytorch_version: 'torch',
  torch_version: 'torch',
};
/** Known keys whose text is no one's secret but of no use either. */
const unusedKeys = new Set([
  'trace_id',
  'traceName',
  'displayTimeUnit',
  'INFO',
  'WARNING',
  'ERROR',
  'VERBOSE',
  'STAGE',
]);

export class TraceMetadata {
  formatVersion = '';
  baseTimeNs: bigint | undefined;
  host = '';
  readonly devices: DeviceProperties[] = [];
  readonly settings: Record<string, string> = {};
  readonly versions: Record<string, string> = {};
  rank: number | undefined;
  worldSize: number | undefined;
  backend = '';
  /** Who recorded the events, where Stepscope wrote the trace (timeline/export). */
  recordedBy: { readonly profiler: ProfilerKind; readonly version: string } | undefined;
  /** Of more than one rank. */
  readonly groups: ProcessGroup[] = [];
  readonly environment = new EnvironmentCounter();

  constructor(private readonly notes: NoteCounter) {}

  add(key: string, json: Uint8Array): void {
    if (unusedKeys.has(key)) return;
    if (json.length > MAX_METADATA_BYTES) {
      this.notes.add('oversized-metadata', 'warning', 'Very large metadata values were left out', key);
      return;
    }
    const text = new TextDecoder().decode(json);
    if (key === 'baseTimeNanoseconds') {
      // As digits: JSON.parse would round it to a multiple of 256.
      const digits = /^"?(-?\d{1,30})"?$/.exec(text.trim());
      if (digits) this.baseTimeNs = BigInt(digits[1]);
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.notes.add('damaged-metadata', 'warning', 'Damaged sections between metadata were left out', key);
      return;
    }
    this.addParsed(key, value);
  }

  private addParsed(key: string, value: unknown): void {
    if (key === 'schemaVersion') this.formatVersion = plainText(value);
    else if (key === 'deviceProperties') this.addDevices(value);
    else if (key === 'distributedInfo') this.addDistributed(value);
    else if (key === 'host_name' || key === 'hostname') this.host = plainText(value);
    else if (key === 'stepscope') this.addRecorder(value);
    else if (settingKeys.has(key)) this.settings[key] = plainText(value);
    else if (Object.hasOwn(versionKeys, key)) this.versions[versionKeys[key]] = versionText(key, value);
    else countEnvironment(key, value, this.environment);
  }

  private addDevices(value: unknown): void {
    if (!Array.isArray(value)) return;
    for (const device of value.slice(0, 1024)) {
      if (!isObject(device) || typeof device.id !== 'number') continue;
      this.devices.push({
        id: device.id,
        name: plainText(device.name),
        memoryBytes: finite(device.totalGlobalMem),
        smCount: finite(device.numSms),
        computeCapability:
          typeof device.computeMajor === 'number'
            ? `${device.computeMajor}.${finite(device.computeMinor) ?? 0}`
            : undefined,
      });
    }
  }

  private addDistributed(value: unknown): void {
    if (!isObject(value)) return;
    this.rank = finite(value.rank);
    this.worldSize = finite(value.world_size);
    this.backend = plainText(value.backend);
    if (Array.isArray(value.pg_config))
      for (const group of value.pg_config.slice(0, MAX_GROUPS)) this.addGroup(group);
    if (value.nccl_version !== undefined) this.versions.nccl = plainText(value.nccl_version);
  }

  private addRecorder(value: unknown): void {
    if (!isObject(value)) return;
    const profiler = (Object.keys(profilers) as ProfilerKind[]).find(kind => kind === value.profiler);
    if (profiler) this.recordedBy = { profiler, version: plainText(value.profilerVersion) };
  }

  private addGroup(value: unknown): void {
    if (!isObject(value) || !Array.isArray(value.ranks) || value.ranks.length < 2) return;
    const ranks = value.ranks.flatMap(rank => finite(rank) ?? []);
    const description = plainText(value.pg_desc);
    this.groups.push({
      name: plainText(value.pg_name),
      description: description === 'undefined' ? '' : description,
      ranks,
    });
  }
}

/** CUDA counts 13000 for 13.0; everything else is shown as written. */
function versionText(key: string, value: unknown): string {
  if (key.startsWith('cuda_') && typeof value === 'number' && value >= 1000) {
    return `${Math.floor(value / 1000)}.${Math.floor((value % 1000) / 10)}`;
  }
  return plainText(value);
}

function plainText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value).slice(0, 200)
    : '';
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
