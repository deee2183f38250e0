/** What figures are about, in the words of the selection: one step is “this step”, several are counted. */
import { plural } from '../base/units.js';
import type { StepSpan } from '../timeline/spans.js';
import type { TimelineDocument } from '../timeline/wire.js';

/** `This step`, `These 3 prefill steps`, `Steady state`; empty where there are no steps. */
export function selectionName(document: TimelineDocument, span: StepSpan | null): string {
  if (document.steps.length === 0) return '';
  if (!span) return 'Steady state';
  if (span.first === span.last) return 'This step';
  const kinds = new Set(document.steps.phase.slice(span.first, span.last + 1));
  const [phase] = kinds;
  const look = kinds.size === 1 ? document.palettes.phase[phase] : undefined;
  const label = look && look.id !== 'unknown' ? `${look.label} ` : '';
  return `These ${plural(span.last - span.first + 1, `${label}step`)}`;
}

const isOne = (span: StepSpan | null) => span !== null && span.first === span.last;

/** Analyses speak of the mean of many steps; where one is selected there is no other. */
export function inSelection(span: StepSpan | null): (text: string) => string {
  if (!isOne(span)) return text => text;
  return text =>
    text
      .replace(/\bof every step\b/g, 'of this step')
      .replace(/\bof a step\b/g, 'of this step')
      .replace(/\bto a step\b/g, 'to this step')
      .replace(/^A step\b/, 'This step')
      .replace(/\bper (?:\w+ )?step\b/g, 'in this step');
}

/** The same after `This step:`, which need not be said twice. */
export const afterName =
  (span: StepSpan | null) =>
  (text: string): string =>
    isOne(span) ? inSelection(span)(text).replace(/ in this step\b/g, '') : text;
