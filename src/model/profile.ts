/**
 * A Profile: everything a capture recorded, as columns. Never changed once built; built by importers through
 * ProfileBuilder, joined by merge. The tables themselves are described in schema.ts.
 */
import type { Brand, Column } from '../base/column.js';
import type { Note } from '../base/notes.js';
import type { StringId, StringTable } from '../base/string-table.js';
import type { BenchRun, EngineState } from './bench-run.js';
import type { ColumnSpec, EntityName, Schema, TableName } from './schema.js';
import type { StepLog } from './step-log.js';

export type Row<Name extends TableName | EntityName> = Brand<number, Name>;
export type ThreadRow = Row<'threads'>;
export type StreamRow = Row<'streams'>;
export type ProcessRow = Row<'processes'>;
export type GpuRow = Row<'gpus'>;

type CellOf<Spec extends ColumnSpec> = Spec extends { ref: infer Target extends TableName | EntityName }
  ? Row<Target>
  : Spec extends { text: true }
    ? StringId
    : number;

type RequiredNames<T> = { [C in keyof T]: T[C] extends { optional: true } ? never : C }[keyof T];
type OptionalNames<T> = { [C in keyof T]: T[C] extends { optional: true } ? C : never }[keyof T];
type Columns<Name extends TableName, T> = {
  readonly [C in RequiredNames<T>]: Column<Row<Name>, T[C] extends ColumnSpec ? CellOf<T[C]> : never>;
} & {
  readonly [C in OptionalNames<T>]?: Column<Row<Name>, T[C] extends ColumnSpec ? CellOf<T[C]> : never>;
};

export type Table<Name extends TableName> = { readonly length: number } & Columns<Name, Schema[Name]>;

export interface Gpu {
  /** The number the driver gives it (CUDA device ordinal). */
  readonly deviceId: number;
  readonly name: string;
  readonly host: string;
  readonly smCount?: number;
  readonly memoryBytes?: number;
  readonly memoryBandwidthBytesPerSecond?: number;
  readonly clockHz?: number;
  readonly l2Bytes?: number;
  readonly computeCapability?: string;
  readonly busLocation?: string;
  /** One GPU in several files (windows of one process, ranks that share it) has one; never shown. */
  readonly uuid?: string;
}

export interface ProcessInfo {
  readonly pid: number;
  readonly name: string;
  readonly host: string;
  /** Rank in a distributed run, where the file says so. */
  readonly rank?: number;
  /** Where files were merged, the first file of its capture in CaptureInfo.files: processes of one file share a clock. */
  readonly file?: number;
}

export interface ThreadInfo {
  readonly process: ProcessRow;
  readonly tid: number;
  readonly name: string;
  readonly priority?: number;
}

export interface StreamInfo {
  readonly process: ProcessRow;
  readonly gpu: GpuRow;
  readonly contextId: number;
  readonly greenContextId?: number;
  readonly streamId: number;
}

/** `agent`: steps and pauses our own agent wrote down, without a profiler's events. */
export type ProfilerKind = 'nsys' | 'kineto' | 'agent';
export type GraphMode = 'nodes' | 'blocks' | 'none';

/** How Profile.originNs may be used: `utc` clocks of different files can be compared, `session` clocks cannot. */
export type ClockKind = 'utc' | 'session';

export interface ProcessGroup {
  readonly name: string;
  /** What the program calls it (`tp`, `ep`); empty or `undefined` where it does not. */
  readonly description: string;
  readonly ranks: readonly number[];
}

export interface CaptureInfo {
  readonly profiler: ProfilerKind;
  /** The version of the tool that wrote the file, as it names itself. */
  readonly profilerVersion: string;
  /** Version of the file format, where there is one. */
  readonly formatVersion: string;
  /** Base names of the files, in the order given. */
  readonly files: readonly string[];
  readonly sizeBytes: number;
  /** What the profiler was told to record, in its own words (flags, trace domains). */
  readonly settings: Readonly<Record<string, string>>;
  /** Version strings of the software around the GPU (driver, CUDA, torch …). */
  readonly versions: Readonly<Record<string, string>>;
  /** How the profiler was set to trace CUDA graphs; undefined when the file does not say. */
  readonly graphTracing?: GraphMode;
  /** Of a merged profile, the statement of its first file. */
  readonly distributed?: {
    readonly rank: number;
    readonly worldSize: number;
    readonly backend: string;
    /** Groups of ranks that communicate, of more than one rank, as the file lists them. */
    readonly groups?: readonly ProcessGroup[];
  };
  /** Ranks in a merged profile, in file order. */
  readonly ranks: readonly number[];
  /** Environment variables the file carries. Only counted: no value is read into a Profile. */
  readonly environment: { readonly variables: number; readonly looksSecret: number };
  /** Start and end of recording where the file states them; otherwise the span of the events. */
  readonly startNs?: number;
  readonly endNs?: number;
  /** Rows seen in the file per source table or event category, including those not modelled. */
  readonly sourceCounts: Readonly<Record<string, number>>;
}

export interface Profile {
  readonly capture: CaptureInfo;
  /** Wall-clock nanoseconds since 1970 of time 0 (clock 'utc'), or the file's own zero (clock 'session'). */
  readonly originNs: bigint;
  readonly clock: ClockKind;
  readonly strings: StringTable;
  readonly gpus: readonly Gpu[];
  readonly processes: readonly ProcessInfo[];
  readonly threads: readonly ThreadInfo[];
  readonly streams: readonly StreamInfo[];
  /** Names of sampled hardware counters. */
  readonly metrics: readonly string[];
  readonly tables: { readonly [Name in TableName]?: Table<Name> };
  /** Tables the reader was asked to leave out. Absent for that reason, not because nothing was recorded. */
  readonly skipped: readonly TableName[];
  /** Tables the file has, or may have had, of which damage left nothing. Absent for that reason. */
  readonly damaged?: readonly TableName[];
  readonly notes: readonly Note[];
  /** Results of benchmarks of the same run, where they were given next to the profile. */
  readonly benchmarks?: readonly BenchRun[];
  /** Steps as their processes noted them, one log per rank. */
  readonly stepLogs?: readonly StepLog[];
  /** What the engine's log says about its queue and memory, by iteration. */
  readonly engineStates?: readonly { readonly file: string; readonly states: readonly EngineState[] }[];
}
