/** What a profiler can be told to leave out, in the words of `stepscope capture`, and what that gives up. */
import type { ProfilerKind } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import { profilers } from './profilers.js';
import type { EventKind } from './tracing-cost.js';

interface RecordingFlag {
  readonly text: string;
  /** Events that are then not recorded. */
  readonly leavesOut?: EventKind;
  /** Another profiler records the steps. */
  readonly instead?: ProfilerKind;
  /** Rows that are then not recorded; what such a row costs, nobody has measured. */
  readonly table?: TableName;
}

export const recordingFlags: Partial<Readonly<Record<ProfilerKind, readonly RecordingFlag[]>>> = {
  nsys: [
    {
      text: '--graph-trace graph records CUDA graphs as blocks, and hides the kernels inside',
      leavesOut: 'graphNode',
    },
    { text: 'record without --cublas', leavesOut: 'libraryCall' },
    {
      text: 'record fewer NVTX ranges (no --nvtx-debug): step markers are enough',
      leavesOut: 'range',
    },
    { text: 'record without --osrt', table: 'osCalls' },
  ],
  kineto: [
    { text: 'record without --torch-stack (with_stack=False)', leavesOut: 'frame' },
    {
      text: `record with ${profilers.nsys.label} instead: it records no framework ops`,
      instead: 'nsys',
    },
  ],
};
