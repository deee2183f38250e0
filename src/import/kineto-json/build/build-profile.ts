/** From what was read to a Profile: lanes become threads and streams, external ids become rows of ops. */
import type { ProfileBuilder } from '../../../model/builder.js';
import type { CaptureInfo, Profile } from '../../../model/profile.js';
import type { ProfileFile } from '../../profile-file.js';
import type { ReadTrace } from '../events/read-trace.js';
import type { TraceMetadata } from '../read/metadata.js';
import { graphTracing } from './graph-tracing.js';
import { OpLinks } from './op-links.js';
import { Places } from './places.js';

/** Microseconds since 1970 passed this in 2001; no session clock comes near. */
const EPOCH_MICROS = 1e15;

export function buildProfile(
  file: Pick<ProfileFile, 'name' | 'sizeBytes'>,
  builder: ProfileBuilder,
  trace: ReadTrace,
  metadata: TraceMetadata,
): Profile {
  const { rows } = trace;
  setClock(builder, trace, metadata);

  const calls = rows.take('apiCalls', { externalId: rows.callExternalIds });
  const places = new Places(builder, trace, metadata, calls.columns);
  const ops = rows.take('ops');
  places.resolveThreads(ops.columns.thread);
  const links = new OpLinks(builder, ops.columns, ops.length);
  builder.addTable('ops', ops.columns, ops.length);
  const frames = rows.take('frames');
  places.resolveThreads(frames.columns.thread);
  builder.addTable('frames', frames.columns, frames.length);

  places.resolveThreads(calls.columns.thread);
  links.fill(calls.columns, calls.length, row => places.processOfThread(calls.columns.thread[row]));
  const kernels = rows.take('kernels', { externalId: rows.kernelExternalIds });
  places.resolveStreams(kernels.columns);
  links.fill(kernels.columns, kernels.length, row => places.processOfStream(kernels.columns.stream[row]));
  const graphs = graphTracing(builder.strings, kernels, calls);
  builder.addTable('kernels', kernels.columns, kernels.length);
  builder.addTable('apiCalls', calls.columns, calls.length);

  for (const name of ['copies', 'memsets', 'syncs'] as const) {
    const { columns, length } = rows.take(name);
    places.resolveStreams(columns);
    builder.addTable(name, columns, length);
  }
  const ranges = rows.take('ranges');
  places.resolveThreads(ranges.columns.thread);
  places.resolveStreamPlaces(ranges.columns.stream);
  builder.addTable('ranges', ranges.columns, ranges.length);
  const overheads = rows.take('overheads');
  places.resolveThreads(overheads.columns.thread);
  builder.addTable('overheads', overheads.columns, overheads.length);
  const flows = rows.take('flows');
  places.resolveFlows(flows.columns, flows.length);
  builder.addTable('flows', flows.columns, flows.length);
  const memory = rows.take('memoryEvents');
  places.resolveMemory(memory.columns);
  builder.addTable('memoryEvents', memory.columns, memory.length);

  places.describeGpus();
  // The string table holds on to the last buffer it saw; let that not be the window on the file.
  builder.strings.intern('');
  const { ranks } = places;
  if (ranks.length > 0) {
    const text = 'ranks were merged into one trace by a tool; its labels distinguish them';
    builder.notes.add('merged-ranks', 'info', text, `rank ${ranks[0]}`, ranks.length);
  }
  const merged = ranks.length > 0 ? { ranks } : {};
  return builder.build({ ...captureInfo(file, trace, metadata), ...merged, graphTracing: graphs });
}

function setClock(builder: ProfileBuilder, trace: ReadTrace, metadata: TraceMetadata): void {
  const micros = Number.isNaN(trace.originMicros) ? 0 : trace.originMicros;
  builder.originNs = (metadata.baseTimeNs ?? 0n) + BigInt(micros) * 1000n;
  builder.clock = metadata.baseTimeNs !== undefined || micros > EPOCH_MICROS ? 'utc' : 'session';
}

function captureInfo(
  file: Pick<ProfileFile, 'name' | 'sizeBytes'>,
  trace: ReadTrace,
  metadata: TraceMetadata,
): CaptureInfo {
  const { rank, worldSize, backend, groups, environment } = metadata;
  const recorded = !Number.isNaN(trace.recordingStart);
  return {
    profiler: metadata.recordedBy?.profiler ?? 'kineto',
    profilerVersion: metadata.recordedBy?.version ?? metadata.versions.torch ?? '',
    formatVersion: metadata.formatVersion,
    files: [file.name],
    sizeBytes: file.sizeBytes,
    settings: metadata.settings,
    versions: metadata.versions,
    ...(rank !== undefined && worldSize !== undefined
      ? { distributed: { rank, worldSize, backend, ...(groups.length > 0 ? { groups } : {}) } }
      : {}),
    ranks: rank === undefined ? [] : [rank],
    environment: environment.counts,
    ...(recorded ? { startNs: trace.recordingStart, endNs: trace.recordingEnd } : {}),
    sourceCounts: trace.categories.sourceCounts(),
  };
}
