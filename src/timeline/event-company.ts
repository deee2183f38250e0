/** An event among its like: all events of the profile with the same name, of the same kind. */
import type { TimelineData } from './timeline-data.js';
import type { LaneData, LaneSource } from './track.js';
import type { EventCompany } from './wire.js';

const BARS = 32;
/** Copies and communication are drawn on their stream too. */
const isRepeated = (id: string) => /\/(copies|communication)$/.test(id);

function lengthsOf(data: TimelineData, source: LaneSource, label: number): Float64Array {
  const found: number[] = [];
  for (const { track, lane } of data.lanes) {
    if (lane.kind !== 'slices' || lane.data.source !== source || isRepeated(track.id)) continue;
    const { label: labels, start, end, length } = lane.data;
    for (let i = 0; i < length; i++) if (labels[i] === label) found.push(end[i] - start[i]);
  }
  return Float64Array.from(found).sort();
}

function middleOf(sorted: Float64Array): number {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** Null where nothing else has the name. */
export function companyOf(data: TimelineData, events: LaneData, index: number): EventCompany | null {
  if (events.source === 'steps' || events.source === 'idle' || events.source === 'ranks') return null;
  const sorted = lengthsOf(data, events.source, events.label[index]);
  if (sorted.length < 2) return null;
  const own = events.end[index] - events.start[index];
  const [least, most] = [sorted[0], sorted[sorted.length - 1]];
  const bars = new Array<number>(BARS).fill(0);
  const barOf = (ns: number) =>
    most > least ? Math.min(BARS - 1, Math.floor(((ns - least) / (most - least)) * BARS)) : 0;
  for (const ns of sorted) bars[barOf(ns)]++;
  return {
    count: sorted.length,
    longer: sorted.reduce((count, ns) => count + Number(ns > own), 0),
    medianNs: middleOf(sorted),
    leastNs: least,
    mostNs: most,
    bars,
    bar: barOf(own),
  };
}

/** How often a name occurs on the GPU, and how long it takes there: for comparing another profile with it. */
export function likeOf(data: TimelineData, name: string): { count: number; medianNs: number } {
  const labels = new Set<number>();
  for (let id = 0; id < data.labels.length; id++) if (data.labels.name(id) === name) labels.add(id);
  const all = [...labels].flatMap(label => [...lengthsOf(data, 'work', label)]);
  const sorted = Float64Array.from(all).sort();
  return { count: sorted.length, medianNs: sorted.length > 0 ? middleOf(sorted) : 0 };
}
