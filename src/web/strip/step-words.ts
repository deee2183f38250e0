/** A step, or several, in words: for tooltips, for the line above the strip, and for those who listen. */
import { formatCount, formatDuration, formatShare, plural } from '../../base/units.js';
import type { StepSpan } from '../../timeline/spans.js';
import type { TimelineDocument } from '../../timeline/wire.js';
import { wallOf } from './strip-layout.js';

type WithSteps = Pick<TimelineDocument, 'steps' | 'palettes'>;

const lookOf = ({ steps, palettes }: WithSteps, step: number) => palettes.phase[steps.phase[step]];

/** `prefill`; empty where nobody knows. */
export function phaseOf(document: WithSteps, step: number): string {
  const look = lookOf(document, step);
  return look && look.id !== 'unknown' ? look.label : '';
}

/** `iteration 12, prefill, 14.6 ms, step 4 of 16` */
function spokenStep(document: WithSteps, step: number): string {
  const { steps } = document;
  return [
    `iteration ${steps.iteration[step]}`,
    phaseOf(document, step),
    formatDuration(wallOf(steps, step)),
    `step ${formatCount(step + 1)} of ${formatCount(steps.length)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

export function spokenSpan(document: WithSteps, { first, last }: StepSpan): string {
  if (first === last) return spokenStep(document, first);
  const { steps } = document;
  const wall = steps.endNs[last] - steps.startNs[first];
  return `iterations ${steps.iteration[first]} to ${steps.iteration[last]}, ${plural(last - first + 1, 'step')}, ${formatDuration(wall)}`;
}

/** Label and value, for a tooltip or a panel. */
export function stepFacts(document: WithSteps, step: number): [label: string, text: string][] {
  const { steps } = document;
  const wall = wallOf(steps, step);
  const facts: [string, string][] = [
    ['phase', lookOf(document, step)?.label ?? 'unknown phase'],
    ['batch', steps.batch[step]],
    ['time', formatDuration(wall)],
    [
      'GPU busy',
      `${formatDuration(steps.busyNs[step])}${wall > 0 ? ` (${formatShare(steps.busyNs[step] / wall)})` : ''}`,
    ],
    ['kernels', steps.kernels[step] < 0 ? '' : formatCount(steps.kernels[step])],
    ['left out', steps.state[step] === 'steady' ? '' : steps.state[step]],
  ];
  return facts.filter(([, text]) => text !== '');
}
