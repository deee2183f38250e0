/**
 * What the export says about itself: versions, settings, GPUs, processes, threads. Only fields on a list are taken;
 * paths, host names, environments and values on command lines stay in the file.
 */
import type { SmallRow, SmallValue, SqliteDatabase } from '../../base/sqlite/database.js';
import { settingsOfCommand } from '../../catalog/command-flags.js';
import { NEWEST_NSYS_SCHEMA } from '../../catalog/file-formats.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { CaptureInfo, GraphMode } from '../../model/profile.js';
import { EnvironmentCounter } from '../environment.js';
import type { ProfileFile } from '../profile-file.js';
import type { Owners } from './owners.js';
import type { StringIds } from './string-ids.js';

/** META_DATA_CAPTURE fields worth keeping, without the PROCESS_n prefix some carry. */
const SETTINGS = [
  'CUDA_GRAPH_TRACE_OPTIONS:MODE',
  'COLLECT_GPU_MEMORY_USAGE',
  'CUDA_FLUSH_PERIOD',
  'CUDA_TRACE_SCOPE',
  'START_TRIGGER',
  'STOP_TRIGGER',
  'RUN_DURATION_MS',
  'START_DELAY_MS',
  'INCLUDE_CHILDREN',
  'TRACE_AFTER_FORK_BEFORE_EXEC',
  'RATE_HZ',
];

/** The profiled command, word by word and in order. */
const COMMAND_PART = /^(COMMAND|ARGUMENT_\d+)$/;

export class Metadata {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly strings: StringIds,
    private readonly builder: ProfileBuilder,
  ) {}

  private rows(table: string): SmallRow[] {
    const known = this.database.tables.get(table);
    return known ? this.database.smallRows(known) : [];
  }

  /**
   * GPUs as exports since mid 2021 tell them. Before that they were in another table, whose clock and bandwidth do not
   * say their units, so those are left out.
   */
  private gpuRows(): SmallRow[] {
    const rows = this.rows('TARGET_INFO_GPU');
    if (rows.length > 0) return rows;
    return this.rows('TARGET_INFO_CUDA_GPU').map(row => ({
      id: row.deviceId,
      name: row.name,
      smCount: row.numMultiprocessors,
      totalMemory: row.globalMemorySize,
      computeMajor: row.computeCapabilityMajor,
      computeMinor: row.computeCapabilityMinor,
    }));
  }

  /** Names and limits of the GPUs, names of processes and threads; only for those that events mention. */
  describeOwners(owners: Owners): void {
    const { builder } = this;
    const gpuRows = new Map(this.gpuRows().map(row => [row.id, row]));
    for (const gpu of builder.gpus) {
      const row = gpuRows.get(gpu.deviceId);
      if (!row) continue;
      gpu.name = text(row.name);
      if (number(row.smCount)) gpu.smCount = number(row.smCount);
      if (number(row.totalMemory)) gpu.memoryBytes = number(row.totalMemory);
      if (number(row.memoryBandwidth)) gpu.memoryBandwidthBytesPerSecond = number(row.memoryBandwidth);
      if (number(row.clockRate)) gpu.clockHz = number(row.clockRate);
      if (number(row.l2CacheSize)) gpu.l2Bytes = number(row.l2CacheSize);
      if (number(row.computeMajor)) gpu.computeCapability = `${row.computeMajor}.${row.computeMinor ?? 0}`;
      if (row.busLocation) gpu.busLocation = text(row.busLocation);
      if (row.uuid) gpu.uuid = text(row.uuid);
    }
    const names = new Map<string, string>();
    for (const row of this.rows('PROCESSES')) {
      const id = idText(row.globalPid);
      names.set(`${owners.host(machineOf(id))}/${pidOf(id)}`, text(row.name));
    }
    for (const process of builder.processes) {
      const name = names.get(`${process.host}/${process.pid}`);
      if (name !== undefined) process.name = name.split('/').pop() ?? name;
    }
    const threads = new Map(
      builder.threads.map(thread => [`${builder.processes[thread.process].pid}/${thread.tid}`, thread]),
    );
    for (const row of this.rows('ThreadNames')) {
      const id = idText(row.globalTid);
      const thread = threads.get(`${pidOf(id)}/${Number(BigInt(id) & 0xffffffn)}`);
      if (!thread) continue;
      thread.name = this.strings.text(number(row.nameId) ?? -1);
      if (number(row.priority) !== undefined) thread.priority = number(row.priority);
    }
  }

  /** GPUs that did nothing are still part of the machine. */
  addIdleGpus(): void {
    for (const row of this.gpuRows()) {
      if (number(row.id) !== undefined) this.builder.gpu('', number(row.id)!);
    }
  }

  setClock(): void {
    const [row] = this.rows('TARGET_INFO_SESSION_START_TIME');
    const utc = number(row?.utcEpochNs);
    if (utc === undefined) return;
    // The value is beyond exact doubles: nanoseconds since 1970 round to about 256 ns, far below clock skew.
    this.builder.originNs = BigInt(Math.round(utc));
    this.builder.clock = 'utc';
  }

  capture(file: ProfileFile, sourceCounts: Record<string, number>): CaptureInfo {
    // 2022 called the table by its older name.
    const exportRows = [...this.rows('EXPORT_META_DATA'), ...this.rows('META_DATA_EXPORT')];
    const exported = new Map(exportRows.map(row => [text(row.name), text(row.value)]));
    const captureRows = this.rows('META_DATA_CAPTURE');
    const system = new Map(this.rows('TARGET_INFO_SYSTEM_ENV').map(row => [text(row.name), text(row.value)]));
    const environment = new EnvironmentCounter();
    const settings: Record<string, string> = {};
    const traced: string[] = [];
    const command: string[] = [];
    for (const row of captureRows) {
      const name = text(row.name).replace(/^PROCESS_\d+:/, '');
      if (name === 'ENVIRONMENT_VARIABLE') environment.addAssignment(text(row.value));
      else if (name === 'CAPTURE_EVENT_TYPE') traced.push(text(row.value));
      else if (COMMAND_PART.test(name)) command.push(text(row.value));
      else if (SETTINGS.includes(name) || name.startsWith('OS_RUNTIME_OPTIONS:'))
        settings[name] = text(row.value);
    }
    if (traced.length > 0) settings.TRACED = traced.join(',');
    Object.assign(settings, settingsOfCommand(command));
    for (const block of this.strings.blocks())
      for (const part of block.split('\0')) environment.addAssignment(part);
    if (environment.requestedIterations) settings.REQUESTED_ITERATIONS = environment.requestedIterations;
    const versions: Record<string, string> = {};
    const take = (label: string, value: string | undefined) => {
      if (value) versions[label] = value;
    };
    take('driver', system.get('NvDriverVersion'));
    take('CUDA driver', system.get('CudaDriverVersion'));
    take('OS', system.get('OsDescription'));
    const schema = exported.get('EXPORT_SCHEMA_VERSION') ?? '';
    if (isNewer(schema, NEWEST_NSYS_SCHEMA)) {
      const text = `the export has a newer schema than Stepscope supports (${NEWEST_NSYS_SCHEMA}): later additions are not read`;
      this.builder.notes.add('newer-schema', 'warning', text, `schema ${schema}`);
    }
    // Variables are those of the command: with several processes on GPUs they are nobody's rank.
    const driving = new Set(this.builder.streams.map(({ process }) => process)).size;
    const place = driving <= 1 ? environment.place : undefined;
    const [details] = this.rows('ANALYSIS_DETAILS');
    const mode = settings['CUDA_GRAPH_TRACE_OPTIONS:MODE'];
    const configured: GraphMode | undefined =
      mode === 'Node' ? 'nodes' : mode === 'Graph' ? 'blocks' : undefined;
    return {
      profiler: 'nsys',
      profilerVersion: exported.get('EXPORT_PRODUCT_VERSION') ?? '',
      formatVersion: schema,
      files: [file.name],
      sizeBytes: file.sizeBytes,
      settings,
      versions,
      graphTracing: configured,
      ...(place ? { distributed: { ...place, backend: '' } } : {}),
      ranks: place ? [place.rank] : [],
      environment: environment.counts,
      ...(number(details?.startTime) === undefined ? {} : { startNs: number(details.startTime) }),
      ...(number(details?.stopTime) === undefined ? {} : { endNs: number(details.stopTime) }),
      sourceCounts,
    };
  }
}

/** By major and minor number; fixes do not change the schema. */
function isNewer(schema: string, known: string): boolean {
  const [major, minor = 0] = schema.split('.').map(Number);
  const [knownMajor, knownMinor] = known.split('.').map(Number);
  return major > knownMajor || (major === knownMajor && minor > knownMinor);
}

const text = (value: SmallValue | undefined): string => (value === undefined ? '' : String(value));
const number = (value: SmallValue | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
/** Global ids read as numbers are exact below 2^53, which covers every machine id seen in exports. */
const idText = (value: SmallValue | undefined): string =>
  BigInt.asUintN(64, BigInt(Math.trunc(number(value) ?? 0))).toString();
const pidOf = (id: string): number => Number((BigInt(id) >> 24n) & 0xffffffn);
const machineOf = (id: string): number => Number(BigInt(id) >> 48n);
