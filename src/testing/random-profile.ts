/**
 * Profiles made of random events, for statements that must hold for every profile: steps with markers, launches,
 * several streams, devices and threads, graphs, copies, communication, waits, garbage collections, profiler overhead.
 * The same seed gives the same profile.
 */
import { NONE } from '../base/column.js';
import { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';
import { randomNumbers } from '../stats/random.js';
import { drawnCapture } from './drawn-capture.js';

export { randomNumbers };

const kernelNames = [
  'nvjet_sm90_tst_64x8',
  'flash_fwd_kernel',
  'ncclDevKernel_AllReduce_Sum_bf16_RING_LL',
  'my_kernel',
];
const callNames = [
  'cudaLaunchKernel',
  'cudaStreamSynchronize',
  'cudaMalloc',
  'cudaGraphLaunch',
  'cudaEventQuery',
];
const rangeNames = [
  'Python GC gen2',
  'Waiting for GIL',
  '_sample_async',
  '_schedule',
  'layers.1.mlp',
  'anything',
];

interface Event {
  start: number;
  end: number;
  owner: number;
  name: string;
  id: number;
}

/** Times are whole nanoseconds below `span`, so that a test can look at every single one. */
export function randomProfile(seed: number, span = 400): Profile {
  const random = randomNumbers(seed);
  const builder = new ProfileBuilder();
  const processes = Array.from({ length: 1 + random(2) }, (_, i) => builder.process('', 100 + i));
  const threads = processes.flatMap(process =>
    Array.from({ length: 1 + random(2) }, (_, i) => builder.thread(process, i + 1)),
  );
  const streams = processes.flatMap((process, p) =>
    Array.from({ length: 1 + random(3) }, (_, i) => {
      // Processes may share a device.
      const gpu = builder.gpu('', random(4) === 0 ? 0 : p);
      return builder.stream(process, gpu, 1, i);
    }),
  );
  const pick = <T>(list: readonly T[]): T => list[random(list.length)];
  const event = (owner: number, name: string, id: number, longest = 40): Event => {
    const start = random(span);
    return { start, end: start + random(longest), owner, name, id };
  };
  let nextId = 1;
  const calls: Event[] = [];
  const kernels: Event[] = [];
  const copies: Event[] = [];
  const blocks: Event[] = [];
  for (let n = random(30); n > 0; n--) {
    const id = nextId++;
    const thread = pick(threads);
    const call = event(thread, pick(callNames), id);
    if (random(10) > 0) calls.push(call);
    const own = streams.filter(stream => builder.streams[stream].process === builder.threads[thread].process);
    const work = call.name === 'cudaGraphLaunch' ? 3 : random(2);
    for (let k = 0; k < work; k++) {
      const start = call.start + random(60);
      const entry = { start, end: start + random(30), owner: pick(own), name: pick(kernelNames), id };
      const kind = random(12);
      if (kind === 0) copies.push(entry);
      else if (kind === 1 && seed % 5 === 0) blocks.push(entry);
      else kernels.push(entry);
    }
  }
  const ranges = Array.from({ length: random(12) }, () => event(pick(threads), pick(rangeNames), 0, 80));
  addMarkers();
  const { strings } = builder;
  const columns = (list: Event[]) => ({
    start: Float64Array.from(list, e => e.start),
    end: Float64Array.from(list, e => e.end),
  });
  const names = (list: Event[]) => Int32Array.from(list, e => strings.intern(e.name));
  const owners = (list: Event[]) => Int32Array.from(list, e => e.owner);
  const ids = (list: Event[]) => Uint32Array.from(list, e => e.id);
  const work = (list: Event[]) => ({
    ...columns(list),
    stream: owners(list),
    correlation: ids(list),
    launch: Int32Array.from(list, () => NONE),
  });
  const onThread = (list: Event[]) => ({ ...columns(list), thread: owners(list), name: names(list) });
  builder.addTable('apiCalls', { ...onThread(calls), correlation: ids(calls) }, calls.length);
  builder.addTable('kernels', { ...work(kernels), name: names(kernels) }, kernels.length);
  builder.addTable(
    'copies',
    {
      ...work(copies),
      bytes: Float64Array.from(copies, () => 8),
      kind: Int32Array.from(copies, () => 1 + random(2)),
    },
    copies.length,
  );
  builder.addTable('graphLaunches', work(blocks), blocks.length);
  const openEnds = Float64Array.from(ranges, range => (random(20) === 0 ? Number.NaN : range.end));
  builder.addTable(
    'ranges',
    {
      ...onThread(ranges),
      end: openEnds,
      kind: Uint8Array.from(ranges, () => RangeKind.pushPop),
      domain: Int32Array.from(ranges, () => NONE),
    },
    ranges.length,
  );
  const overheads = Array.from({ length: random(3) }, () => event(pick(threads), 'overhead', 0));
  builder.addTable('overheads', onThread(overheads), overheads.length);
  const osCalls = Array.from({ length: random(4) }, () => event(pick(threads), 'poll', 0));
  builder.addTable('osCalls', onThread(osCalls), osCalls.length);
  return builder.build(drawnCapture(`random-${seed}`));

  /** Steps of one thread follow each other; some seeds have none, some have several lanes. */
  function addMarkers(): void {
    if (seed % 4 === 0) return;
    for (const process of processes) {
      const thread = threads.find(candidate => builder.threads[candidate].process === process)!;
      let at = random(60);
      for (let step = 10; at < span && step < 16; step++) {
        const end = at + 5 + random(80);
        const context = random(3);
        ranges.push({
          start: at,
          end,
          owner: thread,
          name: `[Executor] _forward_step ${step}: ${context} ctx reqs, ${random(4)} gen reqs`,
          id: 0,
        });
        at = end + random(30);
        if (random(8) === 0) step += 3;
      }
    }
  }
}
