/** What the program does wrong beside being slow: calls that fail, memory that only grows. */
import { formatBytes, formatCount, plural } from '../../base/units.js';
import { memoryByStep } from '../gpu/memory-by-step.js';
import { failedCalls } from '../host/failed-calls.js';
import type { Finding } from './finding.js';
import { finding, type Rule } from './rule.js';

/** Neither has a cost per step of its own. */
const WITHOUT_COST = { phase: null, costNs: null, costShare: null, gain: null } as const;

const cudaErrors: Rule = {
  id: 'cuda-errors',
  about: 'API calls that return an error',
  uses: [failedCalls],
  look(input) {
    const found = input.useIfRecorded(failedCalls) ?? [];
    if (found.length === 0) return [];
    const count = found.reduce((sum, call) => sum + call.count, 0);
    return [
      finding('cuda-errors', input, {
        claim: `${plural(count, 'API call')} ${count === 1 ? 'returns' : 'return'} an error`,
        ...WITHOUT_COST,
        severity: 'medium',
        confidence: 'certain',
        evidence: found.slice(0, 5).map(({ call, code, count: own, firstNs }) => ({
          text: `${call} returns ${code} ${own === 1 ? 'once' : `${formatCount(own)} times`}`,
          window: { startNs: firstNs, endNs: firstNs },
        })),
        confirm: 'stepscope stats FILE -r cuda_api_trace',
      }),
    ];
  },
};

const memoryGrowth: Rule = {
  id: 'memory-growth',
  about: 'GPU memory use that grows from step to step',
  uses: [memoryByStep],
  look(input) {
    return (input.useIfRecorded(memoryByStep) ?? []).flatMap(({ gpu, bytes }): Finding[] => {
      const changes = bytes.slice(1).map((after, i) => after - bytes[i]);
      const grown = changes.filter(change => change > 0).length;
      // Caches and pools grow in jumps and stop; what leaks grows in nearly every step and never shrinks.
      const isLeak = changes.length >= input.policy.growingSteps && grown >= 0.75 * changes.length;
      if (!isLeak || changes.some(change => change < 0)) return [];
      const total = bytes[bytes.length - 1] - bytes[0];
      const { deviceId } = input.profile.gpus[gpu];
      return [
        finding('memory-growth', input, {
          claim: `Memory in use on GPU ${deviceId} grows by ${formatBytes(total / changes.length)} per step`,
          ...WITHOUT_COST,
          severity: 'medium',
          confidence: 'certain',
          evidence: [
            {
              text: `${formatBytes(bytes[0])} after the first step, ${formatBytes(bytes[bytes.length - 1])} after the last of ${bytes.length}; it grows in ${grown} of ${plural(changes.length, 'step')} and never shrinks`,
              numerator: grown,
              denominator: changes.length,
              unit: 'steps',
              analysis: 'memory-in-use',
              rows: [`device:${gpu}`],
            },
          ],
          confirm: 'stepscope analyze FILE --only memory-in-use',
        }),
      ];
    });
  },
};

export const programRules: readonly Rule[] = [cudaErrors, memoryGrowth];
