/**
 * The model's layers as the GPU ran them, eager or from a graph: one band per layer and step, and below it the parts
 * that are named (router, experts). Only where layers are told, not where they are guessed from a pattern.
 *
 *     kernels   ▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌▌
 *     layers       [ 0  ][ 1  ]
 */
import type { Analyzer } from '../analyze/analysis.js';
import { type GpuWork, gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
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
  const isUnnamed = parts.map(name => name === '');
  let device: number = NONE;
  let [whole, inside] = [new Bands(), new Bands()];
  // Of the kernel before: most go on with its bands.
  let [lastLayer, lastPart, lastStep]: number[] = [NONE, NONE, NONE];
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel) continue;
    const step = runOfWork ? runOfWork[i] : NONE;
    const own = layer[i];
    if (work.device[i] !== device) {
      device = work.device[i];
      [whole, inside] = runs.get(device)!;
    } else if (own === lastLayer && part[i] === lastPart && step === lastStep) {
      whole.goOn(work.end[i]);
      inside.goOn(work.end[i]);
      continue;
    }
    lastLayer = own;
    lastPart = part[i];
    lastStep = step;
    whole.add(own, NO_PART, step, work, i);
    inside.add(own === NONE || isUnnamed[part[i]] ? NONE : own, part[i], step, work, i);
  }
  const found = new Map<number, Track>();
  for (const [device, both] of runs) {
    const lanes = both
      .map(bands => bands.finish(labels, tone, parts))
      .filter(lane => lane.length > 0)
      .map(lane => makeLane({ source: 'layers', ...lane }));
    const group = `gpu:${device}`;
    if (lanes.length > 0)
      found.set(device, { id: `${group}/layers`, group, label: 'layers', palette: 'host', lanes });
  }
  return found;
}

interface Band {
  readonly layer: number;
  /** Number of its name; NO_PART: the whole layer. */
  readonly part: number;
  readonly step: number;
  readonly start: number;
  end: number;
  readonly first: number;
}

const NO_PART = -2;

/** Kernels in a row under one name, in one step, are one band. */
class Bands {
  private readonly bands: Band[] = [];
  private open: Band | undefined;

  /** `layer` NONE: in no band. */
  add(layer: number, part: number, step: number, work: GpuWork, row: number): void {
    const { open } = this;
    const end = work.end[row];
    if (open && open.layer === layer && open.part === part && open.step === step) {
      if (end > open.end) open.end = end;
      return;
    }
    this.open = layer === NONE ? undefined : { layer, part, step, start: work.start[row], end, first: row };
    if (this.open) this.bands.push(this.open);
  }

  /** The next kernel has the same names. */
  goOn(end: number): void {
    if (this.open && end > this.open.end) this.open.end = end;
  }

  finish(labels: EventLabels, tone: number, parts: readonly string[]) {
    const lane = new LaneBuilder();
    const known = new Map<number, number>();
    const labelOf = (layer: number, part: number): number => {
      const key = layer * (parts.length + 1) + (part === NO_PART ? parts.length : part);
      let label = known.get(key);
      if (label === undefined) {
        label = labels.of(part === NO_PART ? `layer ${layer}` : `${layer}.${parts[part]}`);
        known.set(key, label);
      }
      return label;
    };
    // Streams that run side by side: a band ends where the next one begins.
    this.bands.forEach(({ layer, part, start, end, first }, at) => {
      const next = this.bands[at + 1]?.start ?? Infinity;
      lane.add(start, Math.max(start, Math.min(end, next)), labelOf(layer, part), tone, first);
    });
    return lane.finish();
  }
}
