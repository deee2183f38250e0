/** The window that was captured: how many steps, of what kind, and how much beside them. */
import { formatDuration, plural } from '../../base/units.js';
import { medianOf } from '../../stats/summary.js';
import { iterations } from '../inference/iterations.js';
import { spanOf } from '../info.js';
import { captureProblem, hasGpuWork } from './capture-problem.js';
import type { Finding } from './finding.js';
import { finding, type Rule } from './rule.js';

const stepsCaptured: Rule = {
  id: 'steps-captured',
  about: 'too few steps, warm-up steps included, no steps, or mostly time outside steps',
  uses: [iterations],
  look(input) {
    if (!hasGpuWork(input.profile)) return [];
    const { rows } = input.use(iterations);
    if (rows.length === 0) {
      return [
        finding(
          'no-steps',
          input,
          captureProblem('No engine steps were found: figures cover the whole trace', 'note', [
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
          captureProblem(
            `Only ${plural(captured.length, 'steady step')}: too few to judge percentiles and rare stalls`,
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
          captureProblem(
            `The window includes ${plural(warm.length, 'warm-up step')} (excluded here)`,
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
          captureProblem(
            `The capture lasts ${formatDuration(span)}, but only ${formatDuration(inSteps)} of it is steps`,
            'note',
            [
              {
                text: 'captured time spent in steps',
                numerator: inSteps,
                denominator: span,
                unit: 'ns',
                analysis: 'iterations',
              },
            ],
          ),
        ),
      );
    return found;
  },
};

const firstStepUnlike: Rule = {
  id: 'first-step-unlike',
  about: 'the first recorded step is slower than similar steps because it includes profiler start-up',
  uses: [iterations],
  look(input) {
    const [first, ...rest] = input.use(iterations).rows;
    // Steps left out as warm-up have a remark of their own.
    if (!first?.selected) return [];
    const alike = rest.filter(
      row => row.selected && row.phase === first.phase && row.generationRequests === first.generationRequests,
    );
    if (alike.length < 3) return [];
    const usual = medianOf(Float64Array.from(alike, row => row.wallNs));
    if (first.wallNs < input.policy.firstStep * usual) return [];
    return [
      finding(
        'first-step-unlike',
        input,
        captureProblem(
          `The first recorded step takes ${formatDuration(first.wallNs)}, the others ${formatDuration(usual)}: it inflates the means`,
          'note',
          [
            {
              text: `iteration ${first.iteration}; it includes profiler start-up`,
              analysis: 'iterations',
              rows: [first.key],
            },
          ],
          'stepscope steps FILE',
        ),
      ),
    ];
  },
};

export const windowRules: readonly Rule[] = [stepsCaptured, firstStepUnlike];
