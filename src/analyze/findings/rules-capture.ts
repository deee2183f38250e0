/** Captures that cannot answer, or mislead. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import { graphMode } from '../../model/graph-mode.js';
import { brokenFile } from '../broken-file.js';
import { gpuUtilization } from '../gpu/gpu-utilization.js';
import { framesPerStep } from '../host/frames-per-step.js';
import { launchCalls } from '../host/launch-calls.js';
import { graphWord } from '../program.js';
import { profilerCost, profilerCostParts, savedWithout, savingText } from '../undisturbed/profiler-cost.js';
import { recordedSteps } from '../undisturbed/replay-without-recording.js';
import { perStep } from '../words.js';
import { captureProblem, hasGpuWork } from './capture-problem.js';
import type { Finding } from './finding.js';
import { capital, costing, finding, perWindow, phaseName, type Rule } from './rule.js';

const noGpuWork: Rule = {
  id: 'client-profiled',
  about: 'no GPU work in the capture: wrong process, wrong time window, or lost by the profiler',
  uses: [launchCalls],
  look(input) {
    // Of a file that is not whole nobody can say what was never in it.
    if (hasGpuWork(input.profile) || brokenFile(input.profile)) return [];
    const { processes, threads } = input.profile;
    const launches = input.use(launchCalls);
    const unread = input.profile.notes.find(({ code }) => code === 'profiler-failed');
    if (unread)
      return [
        finding(
          'gpu-work-lost',
          input,
          captureProblem(
            'The profiler failed to process what it recorded: the file has no GPU work',
            'high',
            [{ text: `${unread.count} × ${unread.text}` }],
          ),
        ),
      ];
    // Who launches is no client.
    if (launches > 0)
      return [
        finding(
          'gpu-work-lost',
          input,
          captureProblem(
            `${plural(launches, 'launch call')} recorded but no GPU work: the profiler lost it or did not trace it`,
            'high',
            [
              {
                text: '0 kernels, copies or graph replays',
                numerator: 0,
                denominator: launches,
                unit: 'calls',
              },
            ],
          ),
        ),
      ];
    return [
      finding(
        'client-profiled',
        input,
        captureProblem(
          'No GPU work was recorded: the client was profiled, or the run never reached the capture window',
          'high',
          [
            {
              text: `0 kernels, copies or graph replays in ${plural(processes.length, 'process', 'processes')}, ${plural(threads.length, 'thread')}`,
              numerator: 0,
              denominator: threads.length,
            },
          ],
        ),
      ),
    ];
  },
};

const graphBeingCaptured: Rule = {
  id: 'graph-being-captured',
  about: 'a graph capture is in progress: launches are recorded into the graph and do not execute',
  uses: [],
  look(input) {
    if (!input.program.capturesGraph) return [];
    const graph = graphWord(input.program.isAmd).replace(/s$/, '');
    return [
      finding(
        'graph-being-captured',
        input,
        captureProblem(
          `A ${graph} is being captured in this window: most launches do not execute, so times do not represent serving`,
          'high',
          [{ text: 'graph capture calls, and fewer kernels than half of the launches' }],
        ),
      ),
    ];
  },
};

const graphKernelsHidden: Rule = {
  id: 'graph-kernels-hidden',
  about: 'CUDA graphs recorded as blocks',
  uses: [gpuUtilization],
  look(input) {
    if (graphMode(input.profile) !== 'blocks') return [];
    const rows = input.useIfRecorded(gpuUtilization)?.rows ?? [];
    const replayNs = rows.reduce((sum, row) => sum + row.graphReplayNs, 0);
    const busyNs = rows.reduce((sum, row) => sum + row.busyNs, 0);
    return [
      finding(
        'graph-kernels-hidden',
        input,
        captureProblem(
          `${graphWord(input.program.isAmd)} were recorded as blocks: kernels and idle time inside replays are hidden`,
          'high',
          [
            {
              text: `${formatShare(busyNs > 0 ? replayNs / busyNs : 1)} of GPU time is inside replays`,
              numerator: replayNs,
              denominator: busyNs,
              unit: 'ns',
              analysis: 'gpu-utilization',
            },
          ],
        ),
      ),
    ];
  },
};

const droppedData: Rule = {
  id: 'dropped-data',
  about: 'data the profiler or the reader lost',
  uses: [],
  look(input) {
    const lost = input.profile.notes.filter(note => note.severity === 'loss' && note.code !== 'graph-blocks');
    if (lost.length === 0) return [];
    const broken = brokenFile(input.profile);
    const evidence = lost.map(note => ({ text: `${note.count} × ${note.text}` }));
    if (broken) {
      const claim = `The file is broken: ${lowerFirst(broken.text)}`;
      return [finding('broken-file', input, captureProblem(claim, 'high', evidence))];
    }
    const claim = `The capture is incomplete: ${lowerFirst(lost[0].text)}`;
    return [finding('dropped-data', input, captureProblem(claim, 'medium', evidence))];
  },
};

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** Beyond this many they are not listed. */
const MOST_LISTED = 16;

function missingRanks(ranks: readonly number[], worldSize: number): string {
  const missing = Array.from({ length: worldSize }, (_, rank) => rank).filter(rank => !ranks.includes(rank));
  if (ranks.length < 2 || missing.length > MOST_LISTED) return '';
  return `; missing: ${missing.join(', ')}`;
}

const oneRank: Rule = {
  id: 'one-rank',
  about: 'one rank of several',
  uses: [],
  look(input) {
    const { distributed, ranks } = input.profile.capture;
    if (!distributed || distributed.worldSize <= Math.max(1, ranks.length)) return [];
    return [
      finding(
        'one-rank',
        input,
        captureProblem(
          `Only ${plural(Math.max(1, ranks.length), 'rank')} of ${distributed.worldSize} given: waiting for ${ranks.length > 1 ? 'the missing ones' : 'other ranks'} cannot be distinguished from work`,
          'note',
          [
            {
              text: `ranks ${ranks.join(', ')}${missingRanks(ranks, distributed.worldSize)}`,
              numerator: ranks.length,
              denominator: distributed.worldSize,
            },
          ],
        ),
      ),
    ];
  },
};

const profilerOverhead: Rule = {
  id: 'profiler-overhead',
  about: 'the profiler itself slows the steps',
  uses: [],
  look(input) {
    return input.phases.flatMap((total): Finding[] => {
      const ns = total.idleByCause['profiler-overhead'] ?? 0;
      if (ns < input.policy.profilerShare * total.wallNs) return [];
      const costNs = perWindow(total, ns);
      return [
        finding('profiler-overhead', input, {
          claim: `The profiler distorts ${phaseName(total.phase)}: the GPU waits ${formatDuration(costNs)} ${perStep(total.phase)} for it`,
          ...costing(total, costNs, 'absent without the profiler: no gain in production'),
          confidence: 'certain',
          evidence: [
            {
              text: 'idle time during recorded profiler overhead',
              numerator: ns,
              denominator: total.wallNs,
              unit: 'ns',
              analysis: 'step-budget',
            },
          ],
          confirm: 'capture again with less tracing, and compare',
        }),
      ];
    });
  },
};

const costlyProfiler: Rule = {
  id: 'profiler-cost',
  about: 'the profiler adds more than 10% to the step',
  uses: [profilerCost],
  look(input) {
    const cost = input.useIfRecorded(profilerCost);
    // The answer says what the profiler adds: it is a finding where recording less would help.
    if (!cost || cost.savings.length === 0) return [];
    const { row, savings } = cost;
    const isMeasured = row.source !== 'estimate';
    const { claim, basis } = profilerCostParts(cost);
    const found: Finding = finding('profiler-cost', input, {
      ...captureProblem(
        capital(claim),
        'note',
        [
          {
            text: `${formatShare(row.profilerShare)} of the step; ${basis}`,
            numerator: row.profilerNs,
            denominator: row.profiledNs,
            unit: 'ns',
            analysis: 'undisturbed-step',
            rows: [row.key],
          },
        ],
        'capture again with less recorded, and compare',
      ),
      confidence: isMeasured ? 'certain' : 'likely',
    });
    const how = savings.map(saving => ({ engine: 'any', text: savingText(saving) }));
    return [{ ...found, advice: [...how, ...found.advice] }];
  },
};

const stacksRecorded: Rule = {
  id: 'stacks-recorded',
  about: 'Python stacks recorded during the steps, which inflates host time',
  uses: [framesPerStep, recordedSteps],
  look(input) {
    const perStepFrames = input.use(framesPerStep);
    const [total] = input.phases;
    if (!total || perStepFrames === 0) return [];
    const steps = total.phase === null ? undefined : input.useIfRecorded(recordedSteps)?.get(total.phase);
    const savedNs = steps && savedWithout(input.profile, steps, 'frame');
    // A few calls, or calls of a thread that holds nothing up, inflate nothing.
    if (savedNs !== undefined && savedNs < input.policy.smallestShare * perWindow(total, total.wallNs))
      return [];
    const saved =
      savedNs === undefined
        ? ''
        : `; without them a step takes about ${formatDuration(savedNs)} less (estimated)`;
    return [
      finding('stacks-recorded', input, {
        ...captureProblem(
          'Python stacks were recorded: host time, and the GPU idle time it causes, is inflated',
          'note',
          [
            {
              text: `${formatCount(Math.round(perStepFrames))} Python calls ${perStep(total.phase)}${saved}`,
              analysis: 'undisturbed-step',
            },
          ],
          'capture again with with_stack=False, and compare',
        ),
      }),
    ];
  },
  yieldsTo: others =>
    others.some(
      ({ id, advice }) => id === 'profiler-cost' && advice.some(({ text }) => NO_STACKS.test(text)),
    ),
};

/** The other finding names stacks, with what they cost. */
const NO_STACKS = /--torch-stack/;

const lowUtilisation: Rule = {
  id: 'low-utilisation',
  about: 'the GPU is busy less than half of the time, for any reason',
  uses: [gpuUtilization],
  look(input) {
    const rows = input.use(gpuUtilization).rows.filter(row => row.busyShare !== null);
    const [total] = input.phases;
    if (!total || rows.length === 0 || input.program.capturesGraph) return [];
    // Without what the profiler adds, as all findings.
    const windowNs = input.phases.reduce((sum, { wallNs }) => sum + wallNs, 0);
    const busyNs = input.phases.reduce((sum, { wallNs, idleNs }) => sum + wallNs - idleNs, 0);
    if (busyNs >= input.policy.lowUtilisation * windowNs) return [];
    const wallNs = perWindow(total, total.wallNs);
    const idleNs = perWindow(total, total.idleNs);
    const [[cause, causeNs] = ['', 0]] = Object.entries(total.idleByCause).sort((a, b) => b[1] - a[1]);
    const label = idleCauses.find(({ id }) => id === cause)?.label;
    const mostly =
      label && cause !== 'unknown' && causeNs >= total.idleNs / 2
        ? `; the largest idle cause is ${label}`
        : '';
    return [
      finding('low-utilisation', input, {
        claim: `The GPU is busy ${formatShare(busyNs / windowNs)} of the time${mostly}`,
        phase: total.phase,
        costNs: idleNs,
        costShare: idleNs / wallNs,
        gain: null,
        confidence: 'certain',
        evidence: [
          {
            text: `union of GPU work in ${total.phase === null ? 'the trace' : 'the steps'}`,
            numerator: busyNs,
            denominator: windowNs,
            unit: 'ns',
            analysis: 'gpu-utilization',
            rows: rows.map(row => row.key),
          },
        ],
        confirm: 'stepscope analyze FILE --only gpu-utilization,step-budget',
      }),
    ];
  },
  /** Others explain half of the idle time. Waiting for memory is none of it: the GPU is busy meanwhile. */
  yieldsTo(others, { costNs: idleNs }) {
    const idle = others.filter(({ id }) => id !== 'memory-bandwidth');
    return idle.reduce((sum, { costNs }) => sum + (costNs ?? 0), 0) >= idleNs! / 2;
  },
};

export const captureRules: readonly Rule[] = [
  droppedData,
  noGpuWork,
  graphBeingCaptured,
  graphKernelsHidden,
  oneRank,
  profilerOverhead,
  costlyProfiler,
  stacksRecorded,
  lowUtilisation,
];
