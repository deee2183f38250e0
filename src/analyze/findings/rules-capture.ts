/** Captures that cannot answer, or mislead. */
import { formatDuration, formatShare, plural } from '../../base/units.js';
import { graphMode } from '../../model/graph-mode.js';
import { brokenFile } from '../broken-file.js';
import { gpuUtilization } from '../gpu/gpu-utilization.js';
import { iterations } from '../inference/iterations.js';
import { spanOf } from '../info.js';
import type { Finding } from './finding.js';
import { type Claim, costing, finding, perWindow, phaseName, type Rule } from './rule.js';

/** A problem of the capture: no cost and no gain of its own. */
const problem = (
  text: string,
  severity: Finding['severity'],
  evidence: Finding['evidence'],
  confirm = 'stepscope info FILE',
): Claim => ({
  claim: text,
  phase: null,
  severity,
  costNs: null,
  costShare: null,
  gain: null,
  confidence: 'certain',
  evidence,
  confirm,
});

const hasGpuWork = ({ tables }: Parameters<typeof graphMode>[0]) =>
  Boolean(tables.kernels ?? tables.graphLaunches ?? tables.copies ?? tables.memsets);

const clientProfiled: Rule = {
  id: 'client-profiled',
  about: 'no GPU work in the capture: the wrong process, or the wrong moment',
  uses: [],
  look(input) {
    // Of a file that is not whole nobody can say what was never in it.
    if (hasGpuWork(input.profile) || brokenFile(input.profile)) return [];
    const { processes, threads } = input.profile;
    return [
      finding(
        'client-profiled',
        input,
        problem(
          'No GPU work was recorded: the client was profiled, or the window was never reached',
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
        problem(
          'CUDA graphs were recorded as blocks: kernels and idle time inside replays are hidden',
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
      return [finding('broken-file', input, problem(claim, 'high', evidence))];
    }
    const claim = `The capture is incomplete: ${lowerFirst(lost[0].text)}`;
    return [finding('dropped-data', input, problem(claim, 'medium', evidence))];
  },
};

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

const stepsCaptured: Rule = {
  id: 'steps-captured',
  about: 'too few steps, warm-up inside, no steps, or far more than steps captured',
  uses: [iterations],
  look(input) {
    if (!hasGpuWork(input.profile)) return [];
    const { rows } = input.use(iterations);
    if (rows.length === 0) {
      return [
        finding(
          'no-steps',
          input,
          problem('No engine steps were found: figures are over the whole trace', 'note', [
            { text: 'no known marker, graph launch or repeating kernel' },
          ]),
        ),
      ];
    }
    const found: Finding[] = [];
    // Not the selected ones: looking at a single step is no fault of the capture.
    const steady = rows.filter(row => row.state === 'steady');
    const captured = steady.length > 0 ? steady : rows;
    if (captured.length < input.policy.fewSteps)
      found.push(
        finding(
          'too-few-steps',
          input,
          problem(
            `Only ${plural(captured.length, 'step')} captured: percentiles and rare stalls cannot be judged`,
            'note',
            [
              {
                text: `${captured.length} of at least ${input.policy.fewSteps}`,
                numerator: captured.length,
                denominator: input.policy.fewSteps,
                unit: 'steps',
                analysis: 'iterations',
              },
            ],
            'stepscope steps FILE',
          ),
        ),
      );
    const warm = rows.filter(row => row.state === 'warm-up');
    if (warm.length > 0)
      found.push(
        finding(
          'warm-up-inside',
          input,
          problem(
            `The window holds ${plural(warm.length, 'warm-up step')} (left out here)`,
            'note',
            [
              {
                text: `iterations ${warm
                  .map(row => row.iteration)
                  .slice(0, 6)
                  .join(', ')}`,
                numerator: warm.length,
                denominator: rows.length,
                unit: 'steps',
                analysis: 'iterations',
                rows: warm.map(row => row.key),
              },
            ],
            'stepscope steps FILE',
          ),
        ),
      );
    const span = spanOf(input.profile).durationNs;
    const inSteps = rows.reduce((sum, row) => sum + row.wallNs, 0);
    if (inSteps < input.policy.stepsOfSpan * span && span > 1e9)
      found.push(
        finding(
          'whole-run-captured',
          input,
          problem(`${formatDuration(span)} were captured for ${formatDuration(inSteps)} of steps`, 'note', [
            {
              text: 'time in steps of the captured time',
              numerator: inSteps,
              denominator: span,
              unit: 'ns',
              analysis: 'iterations',
            },
          ]),
        ),
      );
    return found;
  },
};

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
        problem(
          `Only ${plural(Math.max(1, ranks.length), 'rank')} of ${distributed.worldSize} given: waiting for others cannot be told from work`,
          'note',
          [
            {
              text: `ranks ${ranks.join(', ')}`,
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
          claim: `The profiler distorts ${phaseName(total.phase)}: the GPU waits ${formatDuration(costNs)} per step for it`,
          ...costing(total, costNs, 'not there without the profiler: no gain in production'),
          confidence: 'certain',
          evidence: [
            {
              text: 'idle time in recorded overhead',
              numerator: ns,
              denominator: total.wallNs,
              unit: 'ns',
              analysis: 'step-budget',
            },
          ],
          confirm: 'capture again with less recorded, and compare',
        }),
      ];
    });
  },
};

const lowUtilisation: Rule = {
  id: 'low-utilisation',
  about: 'the GPU is busy less than half of the time, whatever the reason',
  uses: [gpuUtilization],
  look(input) {
    const rows = input.use(gpuUtilization).rows.filter(row => row.busyShare !== null);
    const [total] = input.phases;
    if (!total || rows.length === 0) return [];
    const busyNs = rows.reduce((sum, row) => sum + row.busyNs, 0);
    const windowNs = rows.reduce((sum, row) => sum + row.windowNs, 0);
    if (busyNs >= input.policy.lowUtilisation * windowNs) return [];
    const wallNs = perWindow(total, total.wallNs);
    const idleNs = perWindow(total, total.idleNs);
    return [
      finding('low-utilisation', input, {
        claim: `The GPU is busy ${formatShare(busyNs / windowNs)} of the time`,
        phase: total.phase,
        costNs: idleNs,
        costShare: idleNs / wallNs,
        gain: null,
        confidence: 'certain',
        evidence: [
          {
            text: 'union of GPU work in the steps',
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
  clientProfiled,
  graphKernelsHidden,
  stepsCaptured,
  oneRank,
  profilerOverhead,
  lowUtilisation,
];
