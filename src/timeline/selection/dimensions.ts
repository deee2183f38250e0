/** By what a selection can be split: each way gives every event a key, and every key a text. */

import { upperBound } from '../../base/bisect.js';
import { palettes } from '../palettes.js';
import type { TimelineData } from '../timeline-data.js';
import type { SelectionSection, StepsDocument } from '../wire.js';
import type { ChosenLane } from './chosen-events.js';

export interface Dimension {
  readonly id: string;
  readonly label: string;
  readonly header: string;
  keyOf(lane: ChosenLane): (row: number) => string | number;
  text(key: string | number): string;
}

type Make = (data: TimelineData) => Dimension;

const byTone =
  (id: string, label: string, header: string): Make =>
  () => ({
    id,
    label,
    header,
    keyOf:
      ({ track, events }) =>
      row =>
        palettes[track.palette][events.tone[row]]?.label ?? '',
    text: String,
  });

const byName =
  (label: string, header: string): Make =>
  ({ labels }) => ({
    id: 'name',
    label,
    header,
    keyOf:
      ({ events }) =>
      row =>
        events.label[row],
    text: key => labels.text(Number(key)),
  });

/** What is the same for a whole lane. */
const byLane =
  (
    id: string,
    label: string,
    header: string,
    textOf: (lane: ChosenLane, data: TimelineData) => string,
  ): Make =>
  data => ({
    id,
    label,
    header,
    keyOf(lane) {
      const text = textOf(lane, data);
      return () => text;
    },
    text: String,
  });

const groupLabel = ({ track }: ChosenLane, { document }: TimelineData): string =>
  document.groups.find(({ id }) => id === track.group)?.label ?? track.group;

/** The step a moment lies in, by position; -1: none. */
export function stepAt({ startNs, endNs }: StepsDocument, moment: number): number {
  const step = upperBound(startNs, moment) - 1;
  return step >= 0 && moment < endNs[step] ? step : -1;
}

const byStep: Make = ({ document: { steps, palettes: looks } }) => ({
  id: 'step',
  label: 'step',
  header: 'Step',
  keyOf:
    ({ events }) =>
    row =>
      stepAt(steps, events.start[row]),
  text(key) {
    const step = Number(key);
    if (step < 0) return 'outside all steps';
    return `${steps.iteration[step]} ${looks.phase[steps.phase[step]]?.label ?? ''}`;
  },
});

const rank = byLane('rank', 'GPU or rank', 'GPU', groupLabel);
const stream = byLane('stream', 'stream', 'Stream', ({ track }) => track.label);
const made: Readonly<Record<SelectionSection, readonly Make[]>> = {
  gpu: [byTone('family', 'family', 'Family'), byName('kernel', 'Kernel'), stream, rank, byStep],
  idle: [byTone('cause', 'cause', 'Cause'), rank, byStep],
  host: [
    byName('name', 'Event'),
    byTone('kind', 'kind', 'Kind'),
    byLane('thread', 'thread', 'Thread', ({ track }) => track.label.replace(/ · [^·]*$/, '')),
    byLane('process', 'process', 'Process', groupLabel),
    byStep,
  ],
  cpu: [byName('thread', 'Thread'), byLane('core', 'core', 'Core', ({ track }) => track.label), byStep],
  layers: [byName('layer', 'Layer'), rank, byStep],
  replays: [byName('graph', 'Graph'), stream, rank, byStep],
  ranks: [byTone('kind', 'kind', 'Kind'), rank, byStep],
  steps: [byTone('phase', 'phase', 'Phase'), byName('step', 'Step'), rank],
};

/** The rank is left out where all events have the same. */
export function dimensionsOf(
  section: SelectionSection,
  data: TimelineData,
  lanes: readonly ChosenLane[],
): Dimension[] {
  const groups = new Set(lanes.map(({ track }) => track.group)).size;
  return made[section]
    .map(make => make(data))
    .filter(({ id }) => (id !== 'rank' && id !== 'process') || groups > 1)
    .filter(({ id }) => id !== 'step' || data.document.steps.length > 0);
}
