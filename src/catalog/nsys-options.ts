/**
 * The options of `nsys profile`, so that a command written for it can be read: 2022.4.2 and 2025.3.1 by their
 * `--help`. Every option takes a value, after a space or `=`, except --help and --version.
 */

/** Long name by short one. */
export const nsysShortOptions: Readonly<Record<string, string>> = {
  ...{ b: 'backtrace', c: 'capture-range', d: 'duration', e: 'env-var', f: 'force-overwrite' },
  ...{ n: 'inherit-environment', o: 'output', p: 'nvtx-capture', s: 'sample', t: 'trace' },
  ...{ w: 'show-output', x: 'stop-on-exit', y: 'delay' },
};

export const nsysLongOptions: ReadonlySet<string> = new Set([
  ...Object.values(nsysShortOptions),
  ...['capture-range-end', 'command-file', 'cpu-core-events', 'cpu-core-metrics', 'cpu-socket-events'],
  ...['cpuctxsw', 'cuda-event-trace', 'cuda-flush-interval', 'cuda-graph-trace', 'cuda-memory-usage'],
  ...[
    'cuda-trace-scope',
    'cuda-um-cpu-page-faults',
    'cuda-um-gpu-page-faults',
    'cudabacktrace',
    'debug-symbols',
  ],
  ...['duration-frames', 'etw-provider', 'event-sample', 'event-sampling-interval'],
  ...['event-sampling-frequency', 'export', 'flush-on-cudaprofilerstop', 'ftrace', 'ftrace-keep-user-config'],
  ...[
    'gpu-metrics-device',
    'gpu-metrics-devices',
    'gpu-metrics-frequency',
    'gpu-metrics-set',
    'gpu-video-device',
  ],
  ...['gpuctxsw', 'hotkey-capture', 'ib-net-info-devices', 'ib-net-info-files', 'ib-net-info-output'],
  ...['ib-switch-metrics-device', 'ib-switch-metrics-devices', 'isr', 'kill', 'mpi-impl', 'nic-metrics'],
  ...[
    'nvtx-domain-exclude',
    'nvtx-domain-include',
    'opengl-gpu-workload',
    'os-events',
    'osrt-backtrace-depth',
  ],
  ...['osrt-backtrace-stack-size', 'osrt-backtrace-threshold', 'osrt-file-access', 'osrt-threshold'],
  ...['python-backtrace', 'python-functions-trace', 'python-sampling', 'python-sampling-frequency'],
  ...['python-nvtx-annotations', 'pytorch', 'resolve-symbols', 'retain-etw-files', 'run-as'],
  ...[
    'samples-per-backtrace',
    'sampling-frequency',
    'sampling-period',
    'sampling-trigger',
    'session',
    'session-new',
  ],
  ...['soc-metrics', 'start-frame-index', 'start-later', 'stats', 'stop-on-range-end', 'storage-metrics'],
  ...['syscall', 'trace-fork-before-exec', 'vsync', 'vulkan-gpu-workload', 'wait', 'xhv-trace'],
]);
