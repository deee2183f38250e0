/**
 * Gives every lane its row: CPU lanes become threads, stream lanes become streams of the process that launched there.
 *
 * A Kineto file is one process, so usually all streams are its own. Where ranks were merged into one file and labelled,
 * the label decides (merged-ranks.ts). Where several processes made API calls without labels, the call with the same
 * correlation decides, work by work.
 */
import { type AnyArray, NONE } from '../../../base/column.js';
import type { ProfileBuilder, RawTable } from '../../../model/builder.js';
import type { ProcessRow, ThreadRow } from '../../../model/profile.js';
import type { Lanes } from '../events/lanes.js';
import type { ReadTrace } from '../events/read-trace.js';
import type { TraceNames } from '../events/trace-names.js';
import type { TraceMetadata } from '../read/metadata.js';
import { CallOwners } from './call-owners.js';
import { MergedRanks, type RankedPid } from './merged-ranks.js';

export class Places {
  private readonly lanes: Lanes;
  private readonly threadOf: Int32Array;
  private readonly mainProcess: ProcessRow;
  private readonly merged: MergedRanks;
  private readonly names: TraceNames;
  /** Of each rank in a merged file, the process that made most calls. */
  private readonly processOfRank = new Map<number, ProcessRow>();
  /** Only where several processes made calls. */
  private readonly owners: CallOwners | undefined;
  /** The stream each stream lane became; where ranks share a lane, that of its first work. */
  private readonly streamOf: Int32Array;

  constructor(
    private readonly builder: ProfileBuilder,
    trace: ReadTrace,
    private readonly metadata: TraceMetadata,
    calls: RawTable,
  ) {
    this.lanes = trace.lanes;
    this.names = trace.names;
    const pids = Array.from({ length: this.lanes.count }, (_, lane) => this.names.word(this.lanes.pid(lane)));
    this.merged = new MergedRanks(pids);
    this.threadOf = new Int32Array(this.lanes.count).fill(NONE);
    this.streamOf = new Int32Array(this.lanes.streamCount).fill(NONE);
    const events = new Map<ProcessRow, { calls: number; all: number }>();
    for (let lane = 0; lane < this.lanes.count; lane++) {
      if (this.lanes.cpuEvents[lane] === 0) continue;
      const process = this.addThread(lane, trace);
      const counted = events.get(process) ?? { calls: 0, all: 0 };
      counted.calls += this.lanes.apiCalls[lane];
      counted.all += this.lanes.cpuEvents[lane];
      events.set(process, counted);
    }
    const busiest = [...events].sort(([, a], [, b]) => b.calls - a.calls || b.all - a.all);
    this.mainProcess = busiest.length > 0 ? busiest[0][0] : builder.process(metadata.host, 0);
    for (const [process] of busiest) {
      const { rank } = builder.processes[process];
      if (rank !== undefined && !this.processOfRank.has(rank)) this.processOfRank.set(rank, process);
    }
    // A merged file has the distributed information of one of its ranks.
    if (metadata.rank !== undefined && this.ranks.length === 0)
      builder.processes[this.mainProcess].rank = metadata.rank;
    const launching = [...events.values()].filter(counted => counted.calls > 0).length;
    if (launching > 1 && this.ranks.length === 0) {
      this.owners = new CallOwners(calls, thread => this.processOfThread(thread), builder.notes);
    }
  }

  /** Ranks that were merged into this file; empty where they were not. */
  get ranks(): readonly number[] {
    return this.merged.ranks;
  }

  private addThread(lane: number, trace: ReadTrace): ProcessRow {
    const pid = this.lanes.pid(lane);
    const tid = this.lanes.tid(lane);
    const ranked = this.rankedPid(pid);
    const process = ranked
      ? this.builder.process(hostOf(ranked), Number.isNaN(ranked.pid) ? pid : ranked.pid)
      : this.builder.process(this.metadata.host, pid);
    if (ranked) this.builder.processes[process].rank = ranked.rank;
    const thread = this.builder.thread(process, tid);
    this.builder.processes[process].name = trace.names.processName(pid);
    this.builder.threads[thread].name = trace.names.threadName(pid, tid);
    this.threadOf[lane] = thread;
    return process;
  }

  processOfThread(thread: number): number {
    return thread === NONE ? NONE : this.builder.threads[thread as ThreadRow].process;
  }

  processOfStream(stream: number): number {
    return this.builder.streams[stream].process;
  }

  /** Lanes to threads, in place. */
  resolveThreads(lanes: AnyArray | undefined): void {
    if (!lanes) return;
    for (let row = 0; row < lanes.length; row++) if (lanes[row] >= 0) lanes[row] = this.threadOf[lanes[row]];
  }

  /** Stream lanes to streams, in place, each of the process that launched the work. */
  resolveStreams(table: RawTable): void {
    const { stream, correlation, start } = table;
    if (!stream) return;
    for (let row = 0; row < stream.length; row++) {
      const lane = stream[row];
      if (lane < 0) continue;
      const owner = this.owners && correlation ? this.owners.of(correlation[row], start[row]) : NONE;
      if (owner !== NONE) {
        stream[row] = this.stream(lane, owner as ProcessRow);
        if (this.streamOf[lane] === NONE) this.streamOf[lane] = stream[row];
      } else stream[row] = this.streamOfLane(lane);
    }
  }

  /** Places of GPU annotations to streams, in place. */
  resolveStreamPlaces(places: AnyArray | undefined): void {
    if (!places) return;
    for (let row = 0; row < places.length; row++)
      if (places[row] >= 0) places[row] = this.streamAtPlace(places[row], true);
  }

  /** Each end of an arrow lies on a thread or on a stream. */
  resolveFlows(table: RawTable, length: number): void {
    const places = table.thread;
    if (!places) return;
    const stream = new Int32Array(length).fill(NONE);
    for (let row = 0; row < length; row++) {
      const place = places[row];
      places[row] = this.threadOf[place];
      if (places[row] === NONE) stream[row] = this.streamAtPlace(place, false);
    }
    table.stream = stream;
  }

  resolveMemory(table: RawTable): void {
    const { process, gpu } = table;
    if (process)
      for (let row = 0; row < process.length; row++)
        process[row] = this.processOfThread(this.threadOf[process[row]]);
    if (gpu)
      for (let row = 0; row < gpu.length; row++)
        if (gpu[row] >= 0)
          gpu[row] = this.gpu(process && this.builder.processes[process[row] as ProcessRow], gpu[row]);
  }

  /** Puts the file's device properties on the GPUs that did something. */
  describeGpus(): void {
    const { devices } = this.metadata;
    const alike =
      devices.length > 0 &&
      devices.every(device => device.name === devices[0].name && device.smCount === devices[0].smCount);
    const byId = new Map(devices.map(device => [device.id, device]));
    for (const gpu of this.builder.gpus) {
      let properties = byId.get(gpu.deviceId);
      if (!properties && alike) {
        // ROCm counts CPU agents too, so its device numbers can lie outside the list.
        properties = devices[0];
        const text = 'GPUs missing from the device list are assumed to be identical to the listed GPUs';
        this.builder.notes.add('device-numbering', 'info', text, `device ${gpu.deviceId}`);
      }
      if (!properties) continue;
      gpu.name = properties.name;
      gpu.memoryBytes = properties.memoryBytes;
      gpu.smCount = properties.smCount;
      gpu.computeCapability = properties.computeCapability;
    }
  }

  private streamAtPlace(place: number, make: boolean): number {
    const lane = this.lanes.streamAt[place];
    if (lane !== NONE) return this.streamOfLane(lane);
    if (!make) return NONE;
    const ranked = this.rankedPid(this.lanes.pid(place));
    const device = ranked ? ranked.pid : this.lanes.pid(place);
    if (Number.isNaN(device)) return NONE;
    const process = this.processOf(ranked);
    return this.builder.stream(process, this.gpu(ranked, device), 0, this.lanes.tid(place));
  }

  private streamOfLane(lane: number): number {
    if (this.streamOf[lane] === NONE)
      this.streamOf[lane] = this.stream(lane, this.processOf(this.rankedPid(this.lanes.pidOfStream(lane))));
    return this.streamOf[lane];
  }

  private stream(lane: number, process: ProcessRow): number {
    const ranked = this.rankedPid(this.lanes.pidOfStream(lane));
    const device = this.lanes.deviceOf(lane);
    // Without a device among its arguments, a lane has the process id there, label and all.
    const own = ranked && device === this.lanes.pidOfStream(lane) ? ranked.pid : device;
    const gpu = this.gpu(ranked, own);
    return this.builder.stream(process, gpu, this.lanes.contextOf(lane), this.lanes.streamIdOf(lane));
  }

  private rankedPid(pid: number): RankedPid | undefined {
    return this.ranks.length === 0 ? undefined : this.merged.of(this.names.word(pid));
  }

  private processOf(ranked: RankedPid | undefined): ProcessRow {
    return (ranked && this.processOfRank.get(ranked.rank)) ?? this.mainProcess;
  }

  private gpu(of: { readonly rank?: number } | undefined, device: number) {
    return this.builder.gpu(
      of?.rank === undefined || this.ranks.length === 0 ? this.metadata.host : `rank ${of.rank}`,
      device,
    );
  }
}

/** As processes of several files are told apart. */
const hostOf = ({ rank }: RankedPid) => `rank ${rank}`;
