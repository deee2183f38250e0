/** What the agent's counters say about the launching thread: page faults, a CPU that others have, a distant GPU. */
import { formatCount, formatDuration } from '../../base/units.js';
import { HOST_CAUSES } from '../../catalog/host-causes.js';
import { hostCounters, type StepCounters } from '../host/host-counters.js';
import { launchingTids } from '../host/launching-threads.js';
import { formatMean, perStep } from '../words.js';
import { idleFinding } from './budget-evidence.js';
import type { Finding } from './finding.js';
import { finding, perWindow, type Rule, type RuleInput } from './rule.js';

/** Most that a fault takes, with the page to clear and the mapping to make and undo: 3.1 µs in a virtual machine. */
const FAULT_NS = 4000;

const countersOf = (input: RuleInput, from: 'inWindows' | 'outside'): StepCounters | undefined => {
  const all = input.use(hostCounters)[from];
  const tid = input.use(launchingTids).find(each => all.has(each));
  return tid === undefined ? undefined : all.get(tid);
};

/** Buffers of a profiler fault in the window, and the load may change after it: what both have is the steps' own. */
const fewerFaults = (outside: StepCounters | undefined, inside: StepCounters | undefined) =>
  outside && inside ? (outside.pageFaults < inside.pageFaults ? outside : inside) : (outside ?? inside);

const hostIdle = (total: RuleInput['phases'][number]) =>
  HOST_CAUSES.reduce((sum, cause) => sum + (total.idleByCause[cause] ?? 0), 0);

const pageFaults: Rule = {
  id: 'page-faults',
  about: 'the launching thread touches memory that has no page yet',
  uses: [hostCounters, launchingTids],
  look(input) {
    const counters = fewerFaults(countersOf(input, 'outside'), countersOf(input, 'inWindows'));
    const [total] = [...input.phases].sort((a, b) => b.wallNs - a.wallNs);
    if (!counters || !total) return [];
    const kernelNs = Math.min(counters.systemNs, counters.pageFaults * FAULT_NS);
    const ns = Math.min(kernelNs * total.windows, hostIdle(total));
    if (ns < input.policy.pageFaultShare * total.wallNs) return [];
    return [
      idleFinding(
        'page-faults',
        input,
        total,
        ns,
        `The launching thread has ${formatCount(Math.round(counters.pageFaults))} page faults per step: up to ${formatDuration(perWindow(total, ns))}`,
        [
          {
            text: `${formatDuration(counters.systemNs)} in the kernel and ${formatDuration(counters.userNs)} in its own code ${perStep(total.phase)}, counted by the agent over ${formatCount(counters.steps)} steps`,
            ...{ numerator: counters.systemNs, denominator: counters.systemNs + counters.userNs, unit: 'ns' },
            analysis: 'threads',
          },
        ],
        'possible',
      ),
    ];
  },
};

const lostCpu: Rule = {
  id: 'lost-cpu',
  about: 'the launching thread is preempted, by counters of the system',
  uses: [hostCounters, launchingTids],
  look(input) {
    // Context switches say it exactly: cpu-contention.
    if (input.profile.tables.contextSwitches) return [];
    const counters = countersOf(input, 'inWindows');
    const [total] = [...input.phases].sort((a, b) => b.wallNs - a.wallNs);
    if (!counters || !total || counters.involuntarySwitches < input.policy.preemptionsPerStep) return [];
    const onCpuNs = counters.userNs + counters.systemNs;
    const ns = hostIdle(total) - onCpuNs * total.windows;
    if (ns < input.policy.contentionShare * total.wallNs) return [];
    return [
      idleFinding(
        'lost-cpu',
        input,
        total,
        ns,
        `The launching thread loses its CPU ${formatMean(counters.involuntarySwitches)} times per step: up to ${formatDuration(perWindow(total, ns))} without one`,
        [
          {
            text: `the GPU waits ${formatDuration(perWindow(total, hostIdle(total)))} ${perStep(total.phase)} for host code, which has a CPU for ${formatDuration(onCpuNs)} (counted by the agent)`,
            ...{ numerator: onCpuNs, denominator: perWindow(total, hostIdle(total)), unit: 'ns' },
            analysis: 'threads',
          },
        ],
        'possible',
      ),
    ];
  },
};

const distantGpu: Rule = {
  id: 'distant-gpu',
  about: 'the launching thread may only run on a NUMA node that its GPU is not attached to',
  uses: [hostCounters],
  look(input): Finding[] {
    const far = input
      .use(hostCounters)
      .placements.find(
        ({ gpuNode, cpuNodes }) =>
          gpuNode !== undefined && cpuNodes.length > 0 && !cpuNodes.includes(gpuNode),
      );
    if (!far) return [];
    return [
      finding('distant-gpu', input, {
        claim: `The process runs on NUMA node ${far.cpuNodes.join(', ')}, its GPU is attached to node ${far.gpuNode}`,
        phase: null,
        severity: 'low',
        costNs: null,
        costShare: null,
        gain: null,
        confidence: 'possible',
        evidence: [{ text: `${formatCount(far.cpus)} CPUs of node ${far.cpuNodes.join(', ')} are allowed` }],
        confirm: 'nvidia-smi topo -m',
      }),
    ];
  },
};

export const hostCounterRules: readonly Rule[] = [pageFaults, lostCpu, distantGpu];
