/**
 * The model's layers as the GPU ran them, eager or from a graph: one band per layer and step, and below it the parts
 * that are named (router, experts). Only where layers are told, not where they are guessed from a pattern.
 *
 *     kernels   ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
 *     layers       [ 0  ][ 1  ]
 */
import type { Analyzer } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { layerOfWork } from '../analyze/inference/layer-of-work.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { NONE } from '../base/column.js';
import { layerOf } from '../catalog/layer-names.js';
import type { Profile } from '../model/profile.js';
import { type EventLabels, LaneBuilder } from './labels.js';
import { makeLane } from './make-lanes.js';
import { toneOf } from './palettes.js';
import type { Track } from './track.js';

/** Asked before layers are looked for, which takes time that profiles without them need not spend. */
function tellsLayers(profile: Profile): boolean {
  if (profile.tables.graphParts) return true;
  const names = new Set((profile.tables.ranges?.name ?? []) as unknown as Int32Array);
  return [...names].some(id => id !== NONE && layerOf(profile.strings.text(id as never)) !== undefined);
}

/** One track per device with layers, by device. */
export function layersTracks(analyzer: Analyzer, labels: EventLabels): Map<number, Track> {
  if (!tellsLayers(analyzer.profile)) return new Map();
  const { layer, part, parts, methods } = analyzer.get(layerOfWork);
  if (!methods.some(method => method !== 'pattern')) return new Map();
  const work = analyzer.get(gpuWork);
  const runOfWork = analyzer.get(stepWork)?.runOfWork;
  const tone = toneOf('host', 'range');
  const runs = new Map(work.devices.map(device => [device, [new Bands(), new Bands()] as const]));
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel) continue;
    const [whole, inside] = runs.get(work.device[i])!;
    const name = layer[i] === NONE ? '' : parts[part[i]];
    const step = runOfWork?.[i] ?? NONE;
    whole.add(layer[i] === NONE ? '' : `layer ${layer[i]}`, step, work.start[i], work.end[i], i);
    inside.add(name && `${layer[i]}.${name}`, step, work.start[i], work.end[i], i);
  }
  const found = new Map<number, Track>();
  for (const [device, both] of runs) {
    const lanes = both
      .map(bands => bands.finish(labels, tone))
      .filter(lane => lane.length > 0)
      .map(lane => makeLane({ source: 'layers', ...lane }));
    const group = `gpu:${device}`;
    if (lanes.length > 0)
      found.set(device, { id: `${group}/layers`, group, label: 'layers', palette: 'host', lanes });
  }
  return found;
}

/** Kernels in a row under one name, in one step, are one band. */
class Bands {
  private readonly bands: { name: string; step: number; start: number; end: number; first: number }[] = [];
  private isOpen = false;

  add(name: string, step: number, start: number, end: number, row: number): void {
    const last = this.bands.at(-1);
    if (this.isOpen && last && last.name === name && last.step === step) {
      last.end = Math.max(last.end, end);
      return;
    }
    this.isOpen = name !== '';
    if (this.isOpen) this.bands.push({ name, step, start, end, first: row });
  }

  finish(labels: EventLabels, tone: number) {
    const lane = new LaneBuilder();
    // Streams that run side by side: a band ends where the next one begins.
    this.bands.forEach(({ name, start, end, first }, at) => {
      const next = this.bands[at + 1]?.start ?? Infinity;
      lane.add(start, Math.max(start, Math.min(end, next)), labels.of(name), tone, first);
    });
    return lane.finish();
  }
}
