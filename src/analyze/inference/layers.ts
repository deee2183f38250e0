/** GPU time and kernels per model layer, and how a step is built from layers. */
import { NONE } from '../../base/column.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult, Json } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { layerOfWork } from './layer-of-work.js';
import { stepPattern } from './pattern-layers.js';
import { selectedWork } from './selected-work.js';
import { stepsOf } from './steps.js';
import { typicalStep } from './typical-step.js';

interface Tally {
  readonly phase: Phase;
  readonly layer: number;
  readonly part: number;
  kernels: number;
  ns: number;
}

const fields = {
  key: keyField,
  phase: field.text<Phase>('Phase', 'of the steps'),
  layer: maybe(field.id('Layer', 'null: outside layers')),
  part: field.text('Part', 'part of the layer, where the range names one'),
  kernelsPerStep: field.mean('Kernels', 'per step and device'),
  nsPerStep: field.nsMean('Time', 'sum of durations, per step and device'),
  share: field.share('Share (%)', 'of the phase’s GPU time'),
};

type LayerRow = RowOf<typeof fields>;

export const layers: Analysis<LayerRow, AnalysisResult<LayerRow>> = {
  id: 'layers',
  title: 'Layers',
  question: 'How long does each layer take, and how many kernels does it run?',
  reads: {},
  uses: [gpuWork, selectedWork, layerOfWork, stepsOf, typicalStep],
  needs: [['kernels']],
  fields,
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { selected, first, end, step, runsOfPhase } = use(selectedWork);
    const { layer, part, parts, methods } = use(layerOfWork);
    const steps = use(stepsOf)?.steps ?? [];
    const structure = structureOf();
    if (methods.length === 0 && !structure)
      throw new NotRecorded(
        'layers',
        'mark them with NVTX ranges such as "layers.3.mlp", or trace modules (with_modules=True)',
      );
    // One number per phase, layer and part, so that millions of kernels need no text.
    const order = phases.map(({ id }) => id);
    const phaseOfStep = steps.map(({ facts }) => order.indexOf(facts.phase));
    const tallies = new Map<number, Tally>();
    for (let i = first; i < end; i++) {
      if (!selected[i] || step[i] === NONE || work.kind[i] !== WorkKind.kernel) continue;
      const ns = work.end[i] - work.start[i];
      const ownPart = layer[i] === NONE ? 0 : part[i];
      const key = ((layer[i] + 1) * parts.length + ownPart) * order.length + phaseOfStep[step[i]];
      const known = tallies.get(key);
      if (known) {
        known.kernels++;
        known.ns += ns;
      } else {
        const { phase } = steps[step[i]].facts;
        tallies.set(key, { phase, layer: layer[i], part: ownPart, kernels: 1, ns });
      }
    }
    const totals = new Map<Phase, number>();
    for (const { phase, ns } of tallies.values()) totals.set(phase, (totals.get(phase) ?? 0) + ns);
    const rows = [...tallies.values()]
      .sort((a, b) => order.indexOf(a.phase) - order.indexOf(b.phase) || a.layer - b.layer || a.part - b.part)
      .map((tally): LayerRow => {
        const count = runsOfPhase(tally.phase);
        return {
          key: `phase:${tally.phase}/layer:${tally.layer === NONE ? 'none' : tally.layer}/${parts[tally.part]}`,
          phase: tally.phase,
          layer: tally.layer === NONE ? null : tally.layer,
          part: tally.layer === NONE ? 'outside layers' : parts[tally.part],
          kernelsPerStep: tally.kernels / count,
          nsPerStep: tally.ns / count,
          share: tally.ns / totals.get(tally.phase)!,
        };
      });
    const numbers = new Set(rows.flatMap(row => (row.layer === null ? [] : [row.layer])));
    return { rows, summary: { methods: [...methods], layers: numbers.size, structure: structure ?? null } };

    /** `22 layers × 46 + 4`: the repeating stretch of the typical step. */
    function structureOf(): Json | undefined {
      const typical = use(typicalStep);
      const names = profile.tables.kernels!.name;
      const kernels = typical?.work.filter(i => work.kind[i] === WorkKind.kernel);
      if (!typical || !kernels || kernels.length === 0) return undefined;
      const pattern = stepPattern(Int32Array.from(kernels, i => names[work.row[i]]));
      if (!pattern) return undefined;
      return {
        phase: typical.phase,
        repeats: pattern.times,
        kernelsPerRepeat: pattern.period,
        otherKernels: kernels.length - pattern.times * pattern.period,
        kernels: kernels.length,
      };
    }
  },
};
