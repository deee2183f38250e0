/** Debug markers of graphics interfaces, on the CPU and on the GPU. */
import type { Profile } from '../../model/profile.js';
import {
  durationOf,
  type EventRow,
  eventSummary,
  eventsFrom,
  type NamedEvent,
  nameOf,
} from './event-summary.js';

const KHR_RANGE = 62;
const KHR_GPU_RANGE = 63;

const markerSum = (
  id: string,
  title: string,
  alias: string,
  source: RegExp,
  events: (profile: Profile, source: RegExp) => Iterable<NamedEvent>,
) =>
  eventSummary({
    id,
    title,
    aliases: [alias],
    countHeader: 'Instances',
    nameHeader: 'Range',
    onlyLasting: true,
    source,
    events,
  });

/** Ranges on the GPU that have a name. */
function* workloads(profile: Profile, source: RegExp): Generator<NamedEvent> {
  for (const row of eventsFrom(profile, source)) {
    const name = nameOf(profile, row);
    if (name !== undefined) yield { name, durationNs: durationOf(profile, row) };
  }
}

/**
 * A call that begins a range has its text, the one that ends it has none; a number ties the two on their thread. The
 * range is what lies between the calls.
 */
function* betweenCalls(profile: Profile, source: RegExp): Generator<NamedEvent> {
  const { start, end, thread, correlation } = profile.tables.otherEvents!;
  const rows = eventsFrom(profile, source);
  const keyOf = (row: EventRow) => `${thread[row]}/${correlation?.[row]}`;
  const ends = new Map<string, EventRow[]>();
  for (const row of rows)
    if (nameOf(profile, row) === undefined) ends.set(keyOf(row), [...(ends.get(keyOf(row)) ?? []), row]);
  for (const row of rows) {
    const name = nameOf(profile, row);
    if (name === undefined) continue;
    for (const other of ends.get(keyOf(row)) ?? []) yield { name, durationNs: start[other] - end[row] };
  }
}

/** Ranges without a text go by their number. */
const khrRanges = (eventClass: number) =>
  function* (profile: Profile, source: RegExp): Generator<NamedEvent> {
    const { id } = profile.tables.otherEvents!;
    for (const row of eventsFrom(profile, source, eventClass))
      yield { name: nameOf(profile, row) ?? String(id?.[row] ?? ''), durationNs: durationOf(profile, row) };
  };

const khr = /^KHR_DEBUG_EVENTS$/;

export const markerSums = [
  markerSum(
    'opengl_khr_range_sum',
    'OpenGL KHR_debug Range Summary',
    'khrdebugsum',
    khr,
    khrRanges(KHR_RANGE),
  ),
  markerSum(
    'opengl_khr_gpu_range_sum',
    'OpenGL KHR_debug GPU Range Summary',
    'khrdebuggpusum',
    khr,
    khrRanges(KHR_GPU_RANGE),
  ),
  markerSum(
    'vulkan_marker_sum',
    'Vulkan Range Summary',
    'vulkanmarkerssum',
    /^VULKAN_DEBUG_API$/,
    betweenCalls,
  ),
  markerSum(
    'vulkan_gpu_marker_sum',
    'Vulkan GPU Range Summary',
    'vulkangpumarkersum',
    /^VULKAN_WORKLOAD$/,
    workloads,
  ),
  markerSum('dx11_pix_sum', 'DX11 PIX Range Summary', 'dx11pixsum', /^D3D11_PIX_DEBUG_API$/, betweenCalls),
  markerSum(
    'dx12_gpu_marker_sum',
    'DX12 GPU Command List PIX Ranges Summary',
    'dx12gpumarkersum',
    /^DX12_WORKLOAD$/,
    workloads,
  ),
  markerSum('dx12_pix_sum', 'DX12 PIX Range Summary', 'dx12pixsum', /^D3D12_PIX_DEBUG_API$/, betweenCalls),
];
