/** The phase of a step no marker speaks of, told by its attention kernels, else by its being one replay that fills a KV cache. */
import { NONE } from '../../base/column.js';
import { GRAPH_LAUNCH } from '../../catalog/host-activities.js';
import type { Phase } from '../../catalog/phases.js';
import type { Profile } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import type { WorkFamilies } from '../gpu/work-families.js';
import { nameTest } from '../name-test.js';

/** Of kernel time: language models have small convolutions in front of recurrences at most. */
const MOST_CONVOLUTION = 0.03;

export function phaseOfKernels(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  own: Int32Array,
): Phase {
  const names = profile.tables.kernels?.name;
  const calls = profile.tables.apiCalls;
  const isGraphLaunch = nameTest(profile, GRAPH_LAUNCH);
  const time = { prefill: 0, decode: 0 };
  let attention = 0;
  let inGraphs = 0;
  let kernelNs = 0;
  let convolutionNs = 0;
  let cacheWrites = 0;
  for (const i of own) {
    const call = work.launch[i];
    const isGraph = call !== NONE && isGraphLaunch(calls!.name[call]);
    if (isGraph || work.kind[i] === WorkKind.graphBlock) inGraphs++;
    if (work.kind[i] !== WorkKind.kernel) continue;
    const { family, variant } = families.classOf(names![work.row[i]]);
    kernelNs += work.end[i] - work.start[i];
    if (family === 'convolution') convolutionNs += work.end[i] - work.start[i];
    if (family === 'kv-cache') cacheWrites++;
    if (family !== 'attention') continue;
    attention++;
    if (variant === 'prefill' || variant === 'decode') time[variant] += work.end[i] - work.start[i];
  }
  // Prefill and decode are words for language models: an image encoder or a diffusion step is neither.
  if (convolutionNs > MOST_CONVOLUTION * kernelNs) return 'unknown';
  if (time.prefill > 0 && time.decode > 0) {
    // Chunked prefill decodes along; a sliver of the other kind is a helper kernel.
    const share = time.prefill / (time.prefill + time.decode);
    return share > 0.95 ? 'prefill' : share < 0.05 ? 'decode' : 'mixed';
  }
  if (time.decode > 0) return 'decode';
  if (time.prefill > 0) return 'prefill';
  // Engines replay whole steps as graphs for decode; prefill lengths vary too much for that. A program of one's own may
  // replay anything that has one shape, an encoder or a prompt of fixed length: only an engine's cache tells it from those.
  return attention > 0 && cacheWrites > 0 && inGraphs > own.length / 2 ? 'decode' : 'unknown';
}
