/** What figures are about, in the words of the selection: one step is “this step”, several are counted. */
import { plural } from '../base/units.js';
import type { TimelineDocument } from '../timeline/wire.js';
import type { Pane } from './state.js';

/** `This step`, `These 3 prefill steps`, `Steady state`; empty where there are no steps. */
export function selectionName({ document, steps }: Pick<Pane, 'document' | 'steps'>): string {
  const span = steps.value;
  if (document.steps.length === 0) return '';
  if (!span) return 'Steady state';
  if (span.first === span.last) return 'This step';
  const kinds = new Set(document.steps.phase.slice(span.first, span.last + 1));
  const [phase] = kinds;
  const label = kinds.size === 1 ? `${phaseLabel(document, phase)} ` : '';
  return `These ${plural(span.last - span.first + 1, `${label}step`)}`;
}

const phaseLabel = ({ palettes }: TimelineDocument, phase: number) => palettes.phase[phase]?.label ?? '';

/** Analyses speak of the mean of many steps; where one is selected there is no other. */
export function inSelection({ steps }: Pick<Pane, 'steps'>): (text: string) => string {
  const span = steps.value;
  if (!span || span.first !== span.last) return text => text;
  return text =>
    text
      .replace(/\bof every step\b/g, 'of this step')
      .replace(/\bof a step\b/g, 'of this step')
      .replace(/\bper (?:\w+ )?step\b/g, 'in this step');
}
