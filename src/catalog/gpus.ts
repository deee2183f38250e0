/**
 * The limits of a GPU a profile names: what the file states where it states it, otherwise the catalogue, and
 * always which of the two. A GPU nobody knows has no limits; none are guessed from its relatives.
 */
import type { Gpu } from '../model/profile.js';
import { type DenseFlops, type FlopsType, type GpuPeak, gpuPeaks } from './gpu-peaks.js';

export { type DenseFlops, type FlopsType, type GpuPeak, gpuPeaks };

export function findGpu(name: string): GpuPeak | undefined {
  const printed = name.trim();
  // A slice of a GPU carries the whole one's name but has neither its bandwidth nor its units.
  if (/\bMIG\b/.test(printed)) return undefined;
  return gpuPeaks.find(peak => peak.pattern.test(printed));
}

interface Figure<T> {
  readonly value: T;
  readonly from: 'file' | 'catalogue';
}

/** Absent means unknown. */
export interface Limits {
  /** The catalogue's entry that matched the GPU's name. */
  readonly peak?: GpuPeak;
  readonly memoryBandwidthBytesPerSecond?: Figure<number>;
  readonly memoryBytes?: Figure<number>;
  readonly smCount?: Figure<number>;
  /** Never scaled by the clock in the file: what a profiler reports there is the highest clock, not the one it ran at. */
  readonly denseFlops?: Figure<DenseFlops>;
  readonly nvlinkBytesPerSecond?: Figure<number>;
  readonly pcieBytesPerSecond?: Figure<number>;
}

export function peakFromProfile(gpu: Gpu): Limits {
  const peak = findGpu(gpu.name);
  return {
    peak,
    memoryBandwidthBytesPerSecond: first(
      gpu.memoryBandwidthBytesPerSecond,
      peak?.memoryBandwidthBytesPerSecond,
    ),
    memoryBytes: first(gpu.memoryBytes, peak?.memoryBytes),
    smCount: first(gpu.smCount, peak?.smCount),
    denseFlops: peak && { value: peak.denseFlops, from: 'catalogue' },
    nvlinkBytesPerSecond: first(undefined, peak?.nvlinkBytesPerSecond),
    pcieBytesPerSecond: first(undefined, peak?.pcieBytesPerSecond),
  };
}

/** A zero in a file is a field its writer left empty, not a measurement. */
function first(file: number | undefined, catalogue: number | undefined): Figure<number> | undefined {
  if (file !== undefined && Number.isFinite(file) && file > 0) return { value: file, from: 'file' };
  return catalogue === undefined ? undefined : { value: catalogue, from: 'catalogue' };
}
