/** What the GPU itself is busy with: which resource limits it, and work that could be less. */
import { formatBytes, formatCount, formatDuration, formatShare } from '../../base/units.js';
import { gpuMetricsAnalysis } from '../gpu/gpu-metrics.js';
import { kernelFamilies } from '../gpu/kernel-families.js';
import type { MetricRow } from '../gpu/metric-row.js';
import { sharedGpus } from '../gpu/shared-gpus.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { boundBy, speedOfLight } from '../inference/speed-of-light.js';
import { familyLook } from '../names-and-colors.js';
import { perStep } from '../words.js';
import type { Evidence, Finding } from './finding.js';
import { anyOf, capital, costing, finding, perWindow, phaseName, type Rule, type RuleInput } from './rule.js';
import { familyNs, wideGemms } from './rules-precision.js';

const limiter: Rule = {
  id: 'limiter',
  about: 'which GPU resource limits busy time, and how close it is to peak',
  uses: [gpuMetricsAnalysis, kernelFamilies],
  look(input) {
    const { policy } = input;
    const { rows } = input.use(gpuMetricsAnalysis);
    return input.phases.flatMap((total): Finding[] => {
      const of = (metric: string): MetricRow | undefined =>
        rows.find(row => row.metric === metric && row.family === null && row.phase === total.phase) ??
        rows.find(row => row.metric === metric && row.family === null && row.phase === null);
      const value = (metric: string) => of(metric)?.overBusy ?? 0;
      const memory = value('DRAM read') + value('DRAM write');
      const compute = Math.max(value('SM issue'), value('tensor active'));
      const uncertainty = of('DRAM read')?.uncertainty ?? 0;
      // Samples that are mostly idle cannot tell one resource from another.
      if (uncertainty * 2 > policy.limiterLead || Math.abs(memory - compute) < policy.limiterLead) return [];
      const isMemory = memory > compute;
      const level = isMemory ? memory : compute;
      const peak = isMemory ? policy.saturatedBandwidth : policy.saturatedSm;
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const savedNs = wideGemms(input, total).savedNs;
      const speed = of('DRAM read')?.bytesPerSecond;
      const target = isMemory ? policy.bandwidthTarget : policy.smTarget;
      const reached =
        level >= peak
          ? 'saturated'
          : level >= target
            ? `above the target of ${target}%`
            : `below the target of ${target}%`;
      return [
        finding(isMemory ? 'memory-bandwidth' : 'compute-bound', input, {
          claim: isMemory
            ? `${capital(phaseName(total.phase))} is memory-bound: DRAM at ${memory.toFixed(0)}% of peak while busy`
            : `${capital(phaseName(total.phase))} is compute-bound: ${value('SM issue') >= compute ? 'SM issue' : 'tensor cores'} at ${compute.toFixed(0)}% of peak while busy`,
          ...costing(
            total,
            busyNs,
            'with 8-bit instead of 16-bit weights: half the bytes (and operations) of the GEMMs',
            savedNs,
          ),
          ...(savedNs > 0 ? {} : { gain: null }),
          confidence: level >= peak ? 'certain' : 'likely',
          evidence: [
            {
              text: `DRAM ${memory.toFixed(0)}%${speed ? ` (reads ${formatBytes(speed)}/s)` : ''}, SM issue ${value('SM issue').toFixed(0)}%, tensor ${value('tensor active').toFixed(0)}%, ± ${uncertainty.toFixed(1)} points; ${reached}`,
              numerator: level,
              denominator: 100,
              unit: '%',
              analysis: 'gpu-metrics',
            },
            ...familyEvidence(input, rows, total.phase),
          ],
          confirm: 'stepscope analyze FILE --only gpu-metrics',
        }),
      ];
    });
  },
};

/** The same for the family with most of the phase's time: kernels differ more than their mean tells. */
function familyEvidence(
  input: RuleInput,
  rows: readonly MetricRow[],
  phase: PhaseBudget['phase'],
): Evidence[] {
  const families = input.useIfRecorded(kernelFamilies)?.rows ?? [];
  const timeIn = (row: (typeof families)[number]) =>
    row.phases.find(part => part.phase === phase)?.nsPerStep ?? 0;
  const dominant = [...families].sort((a, b) => timeIn(b) - timeIn(a))[0];
  const value = (metric: string) =>
    rows.find(row => row.family === dominant?.family && row.metric === metric)?.overBusy;
  const read = value('DRAM read');
  if (!dominant || read === undefined || read === null) return [];
  const sm = value('SM issue') ?? 0;
  const tensor = value('tensor active') ?? 0;
  return [
    {
      text: `${familyLook(dominant.family).label} alone: DRAM read ${read.toFixed(0)}%, SM issue ${sm.toFixed(0)}%, tensor ${tensor.toFixed(0)}%`,
      numerator: read,
      denominator: 100,
      unit: '%',
      analysis: 'gpu-metrics',
    },
  ];
}

/** Matrix products belong on the tensor cores, whatever limits them. */
const tensorCoresIdle: Rule = {
  id: 'tensor-cores-idle',
  yieldsTo: anyOf('fp32-gemm'),
  about: 'GEMMs that do not use the tensor cores',
  uses: [gpuMetricsAnalysis, kernelFamilies],
  look(input) {
    const { rows } = input.use(gpuMetricsAnalysis);
    return input.phases.slice(0, 1).flatMap((total): Finding[] => {
      const tensor = rows.find(row => row.family === 'gemm' && row.metric === 'tensor active');
      const gemmNs = familyNs(input, total.phase, 'gemm');
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const level = tensor?.overBusy;
      if (level === null || level === undefined || gemmNs < input.policy.familyShare * busyNs) return [];
      // Samples are whole percents: what may be above the limit is not called idle.
      if (level + (tensor!.uncertainty ?? 0) >= input.policy.tensorInUse) return [];
      return [
        finding('tensor-cores-idle', input, {
          claim: `GEMMs take ${formatDuration(gemmNs)} ${perStep(total.phase)} and do not use the tensor cores`,
          phase: total.phase,
          costNs: gemmNs,
          costShare: gemmNs / perWindow(total, total.wallNs),
          gain: null,
          confidence: 'likely',
          evidence: [
            {
              text: `tensor active ${level.toFixed(1)}% of peak during GEMMs`,
              numerator: level,
              denominator: 100,
              unit: '%',
              analysis: 'gpu-metrics',
              rows: [tensor!.key],
            },
          ],
          confirm: 'stepscope analyze FILE --only kernel-families,gpu-metrics',
        }),
      ];
    });
  },
};

const farFromLight: Rule = {
  id: 'far-from-light',
  about: 'attention or GEMM far from the minimum time on this GPU',
  uses: [speedOfLight],
  look(input) {
    const { rows } = input.use(speedOfLight);
    return rows.flatMap((row): Finding[] => {
      const total = input.phases.find(candidate => candidate.phase === row.phase);
      if (!total || row.scope === 'whole step' || row.measuredNs === null || row.ofLeast === null) return [];
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const isLarge = row.measuredNs >= input.policy.familyShare * busyNs;
      if (!isLarge || row.ofLeast >= input.policy.farFromLight) return [];
      const savedNs = row.measuredNs - row.leastNs / input.policy.farFromLight;
      return [
        finding('far-from-light', input, {
          claim: `${row.scope} in ${phaseName(row.phase)} reaches ${formatShare(row.ofLeast)} of the speed of light`,
          ...costing(
            total,
            row.measuredNs - row.leastNs,
            `if it reached ${formatShare(input.policy.farFromLight)} of the speed of light`,
            savedNs,
          ),
          confidence: 'possible',
          evidence: [
            {
              text: `measured ${formatDuration(row.measuredNs)}, minimum ${formatDuration(row.leastNs)}${boundBy(row.bound)}`,
              numerator: row.leastNs,
              denominator: row.measuredNs,
              unit: 'ns',
              analysis: 'speed-of-light',
              rows: [row.key],
            },
          ],
          confirm: 'stepscope analyze FILE --only speed-of-light --model config.json',
        }),
      ];
    });
  },
};

const clockDrop: Rule = {
  id: 'clock-drop',
  about: 'the GPU clock is below its maximum while busy',
  uses: [gpuMetricsAnalysis],
  look(input) {
    const { rows } = input.use(gpuMetricsAnalysis);
    return rows.flatMap((row): Finding[] => {
      if (row.metric !== 'GPU clock' || row.phase !== null || row.family !== null || row.overBusy === null)
        return [];
      const gpu = input.profile.gpus.find(candidate => candidate.deviceId === row.device);
      const [total] = input.phases;
      if (!gpu?.clockHz || !total || row.overBusy >= input.policy.clockDrop * gpu.clockHz) return [];
      const busyNs = perWindow(total, total.wallNs - total.idleNs);
      const savedNs = busyNs * (1 - row.overBusy / gpu.clockHz);
      return [
        finding('clock-drop', input, {
          claim: `GPU ${row.device} runs at ${(row.overBusy / 1e6).toFixed(0)} of ${(gpu.clockHz / 1e6).toFixed(0)} MHz while busy`,
          ...costing(total, savedNs, 'if all GPU work scales with the clock; memory-bound work does not'),
          confidence: 'possible',
          evidence: [
            {
              text: 'mean of the sampled clock over busy time',
              numerator: row.overBusy,
              denominator: gpu.clockHz,
              analysis: 'gpu-metrics',
              rows: [row.key],
            },
          ],
          confirm: 'nvidia-smi -q -d CLOCK,PERFORMANCE while it runs',
        }),
      ];
    });
  },
};

const sharedGpu: Rule = {
  id: 'shared-gpu',
  about: 'kernels of several processes on one GPU at the same time',
  uses: [sharedGpus],
  look(input) {
    const { gpus, processes } = input.profile;
    return input.use(sharedGpus).flatMap((shared): Finding[] => {
      const { device, togetherNs, windowNs } = shared;
      if (togetherNs < input.policy.sharedGpu * windowNs) return [];
      const named = shared.processes.slice(0, 4).map(row => {
        const { pid, name, rank } = processes[row];
        return `${rank === undefined ? (name.split('/').pop() ?? name) : `rank ${rank}`} (${pid})`;
      });
      return [
        finding('shared-gpu', input, {
          claim: `${formatCount(shared.processes.length)} processes share GPU ${gpus[device].deviceId}: their kernels take turns, so each lasts longer than it would alone`,
          phase: null,
          costNs: null,
          costShare: null,
          gain: null,
          severity: 'high',
          confidence: 'certain',
          evidence: [
            {
              text: `in ${formatShare(togetherNs / windowNs)} of the time at least two of them run kernels: ${named.join(', ')}${shared.processes.length > named.length ? ' …' : ''}`,
              numerator: togetherNs,
              denominator: windowNs,
              unit: 'ns',
              analysis: 'gpu-utilization',
              rows: [`device:${device}`],
            },
          ],
          confirm: 'nvidia-smi pmon while it runs',
        }),
      ];
    });
  },
};

export const gpuRules: readonly Rule[] = [sharedGpu, limiter, tensorCoresIdle, farFromLight, clockDrop];
