/**
 * Which options nsys knows, by version. Checked against `nsys profile --help` of 2022.4.2 and 2025.3.1; what changed
 * between is placed by NVIDIA's release notes where they say it and otherwise on the late side, so that an option is
 * rather missed than refused by nsys.
 */
import { isAtLeast, type VersionNumbers } from './versions.js';

export interface NsysFeatures {
  /** `--capture-range-end`; before, `--stop-on-range-end` could only stop or not. */
  readonly rangeEnd: boolean;
  /** `--cuda-graph-trace`; before, graph nodes were always traced one by one. */
  readonly graphTrace: boolean;
  /** `-t python-gil`: not in 2022.4, in 2025.3. */
  readonly gil: boolean;
  /** `--python-backtrace`: not in 2022.4, in 2025.3. */
  readonly pythonBacktrace: boolean;
  /** `--python-sampling`: not in 2022.4, in 2025.3. */
  readonly pythonSampling: boolean;
  /** `--gpu-metrics-devices`, which takes `cuda-visible` and lists. 2025.3 still takes the old `--gpu-metrics-device`. */
  readonly gpuMetricsDevices: boolean;
}

export function nsysFeatures(version: VersionNumbers | undefined): NsysFeatures {
  return {
    rangeEnd: isAtLeast(version, 2021, 3),
    graphTrace: isAtLeast(version, 2022, 2),
    gil: isAtLeast(version, 2023, 4),
    pythonBacktrace: isAtLeast(version, 2023, 1),
    pythonSampling: isAtLeast(version, 2023, 4),
    gpuMetricsDevices: isAtLeast(version, 2025, 1),
  };
}
