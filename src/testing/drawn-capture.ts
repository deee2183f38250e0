import type { CaptureInfo } from '../model/profile.js';

/** What a profile that no profiler wrote says about its capture. */
export const drawnCapture = (file: string, ranks: readonly number[] = []): CaptureInfo => ({
  profiler: 'nsys',
  profilerVersion: '',
  formatVersion: '',
  files: [file],
  sizeBytes: 0,
  settings: {},
  versions: {},
  ranks,
  environment: { variables: 0, looksSecret: 0 },
  sourceCounts: {},
});
