/** Hardware counters nsys samples (--gpu-metrics-devices), by the names its metric sets give them. */
export interface GpuMetric {
  readonly id: string;
  readonly label: string;
  readonly pattern: RegExp;
  readonly unit: '%' | 'Hz';
  /** Only work on the GPU moves it: what is measured in a sample belongs to the busy part of it. */
  readonly onlyWhileBusy: boolean;
}

const percent = (id: string, label: string, pattern: RegExp, onlyWhileBusy = true): GpuMetric => ({
  id,
  label,
  pattern,
  unit: '%',
  onlyWhileBusy,
});

/** Metric sets ga10x, gh100, gb10x and the like differ in names a little; counts beside the shares are left out. */
export const gpuMetrics: readonly GpuMetric[] = [
  percent('gr-active', 'GPU active', /^GR Active/),
  percent('sm-active', 'SMs active', /^SMs? Active/),
  percent('sm-issue', 'SM issue', /^SM Issue/),
  percent('tensor-active', 'tensor active', /^(Tensor Active|SM .*Tensor|Tensor Pipe)/),
  percent('dram-read', 'DRAM read', /^DRAM Read/),
  percent('dram-write', 'DRAM write', /^DRAM Write/),
  percent('warps', 'compute warps in flight', /^Compute Warps in Flight \[Throughput/),
  percent('nvlink-rx', 'NVLink receive', /^NVLink RX/, false),
  percent('nvlink-tx', 'NVLink send', /^NVLink TX/, false),
  percent('pcie-rx', 'PCIe receive', /^PCIe (RX|Read)/, false),
  percent('pcie-tx', 'PCIe send', /^PCIe (TX|Write)/, false),
  { id: 'gpc-clock', label: 'GPU clock', pattern: /^GPC Clock/, unit: 'Hz', onlyWhileBusy: false },
  { id: 'sys-clock', label: 'system clock', pattern: /^SYS Clock/, unit: 'Hz', onlyWhileBusy: false },
];

export const findGpuMetric = (name: string): GpuMetric | undefined =>
  gpuMetrics.find(metric => metric.pattern.test(name));
