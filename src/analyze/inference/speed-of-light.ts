/** The least time a step could take on this GPU, beside the time it took, per phase and kernel family. */

import { NONE } from '../../base/column.js';
import { formatDuration, formatShare } from '../../base/units.js';
import type { StepFacts } from '../../catalog/engine-markers.js';
import { type FlopsType, type Limits, peakFromProfile } from '../../catalog/gpus.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import { modelPresets } from '../../catalog/models.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { kernelFamilies } from '../gpu/kernel-families.js';
import { workFamilies } from '../gpu/work-families.js';
import { layers } from './layers.js';
import { type LeastTime, leastTime } from './least-time.js';
import { checkLayers, checkWidth, impossible, type SeenModel } from './model-check.js';
import { type ModelShape, parseModelConfig } from './model-shape.js';
import { multipliedSizes } from './multiplied-sizes.js';
import { selectedWork } from './selected-work.js';
import { windowBudgets } from './step-budget.js';
import { stepCost } from './step-cost.js';
import type { PartCost, StepLoad } from './step-load.js';
import { stepsOf } from './steps.js';
import type { WeightGroup } from './weight-format.js';

const fields = {
  key: keyField,
  phase: field.text<Phase>('Phase', 'of the steps'),
  scope: field.text('What', 'the whole step, or one kernel family'),
  steps: field.count('Steps', 'averaged'),
  leastNs: field.nsMean('Minimum', 'minimum time: all parts in sequence, each at its limit'),
  overlappedNs: maybe(field.nsMean('Lower bound', 'time for all bytes or all FLOPs, whichever is longer')),
  measuredNs: maybe(field.nsMean('Measured', 'wall time of the step; kernel time of the family')),
  gpuBusyNs: maybe(field.nsMean('GPU busy', 'of the step')),
  ofLeast: maybe(field.share('Reached (%)', 'minimum divided by measured')),
  bound: maybe(field.text('Limit', 'memory or compute')),
};

type SpeedRow = RowOf<typeof fields>;

/** Which limit it is, where the GPU's peaks tell. */
export const boundBy = (bound: string | null): string => (bound === null ? '' : ` (${bound}-bound)`);

export const speedOfLight: Analysis<SpeedRow, AnalysisResult<SpeedRow>> = {
  id: 'speed-of-light',
  title: 'Speed of light',
  question: 'How far is a step from the minimum time for this model on this GPU?',
  reads: {},
  uses: [gpuWork, workFamilies, selectedWork, windowBudgets, stepsOf, kernelFamilies, layers],
  needs: [['kernels', 'graphLaunches']],
  fields,
  headline: {
    label: 'minimum time',
    text({ rows }, phase) {
      const row = rows.find(candidate => candidate.phase === phase);
      if (!row || row.ofLeast === null) return undefined;
      return `${formatDuration(row.leastNs)} for this model and GPU${boundBy(row.bound)}: the step reaches ${formatShare(row.ofLeast)} of the speed of light`;
    },
  },
  compute({ profile, settings, use, useIfRecorded }) {
    if (settings.model === undefined) {
      const known = modelPresets.slice(1, 3).map(preset => preset.id);
      throw new NotRecorded(
        'distance to the speed of light',
        `--model config.json, or a preset: ${known.join(', ')} …`,
      );
    }
    const shape = parseModelConfig(settings.model);
    const steps = use(stepsOf)?.steps ?? [];
    const budgets = use(windowBudgets).filter(({ window }) => window.step !== NONE);
    const device = budgets[0]?.window.device;
    if (device === undefined)
      throw new NotRecorded('engine steps', 'capture with the engine’s step markers, or give --marker REGEX');
    const limits = peakFromProfile(profile.gpus[device]);
    // A limit that is not known counts as none, and without limits everything takes no time.
    if (limits.memoryBandwidthBytesPerSecond === undefined) {
      const { name } = profile.gpus[device];
      throw new NotRecorded(
        'distance to the speed of light',
        `${name === '' ? 'the file does not name its GPU' : `the peak rates of ${name} are unknown`}: ${howToRecord.gpuLimits}`,
      );
    }
    const ways =
      settings.tensorParallel ??
      profile.capture.distributed?.worldSize ??
      Math.max(1, profile.capture.ranks.length);
    const seen = seenModel();
    checkLayers(shape, seen);
    checkWidth(shape, seen);
    const unknown = new Set<string>();
    const measured = measureFamilies();
    const rows = phases.flatMap(({ id: phase }): SpeedRow[] => {
      const own = budgets.filter(({ window }) => steps[window.step].facts.phase === phase);
      const loads = own.flatMap(({ window }) => loadOf(steps[window.step].facts, ways) ?? []);
      if (own.length > 0 && loads.length < own.length)
        unknown.add(`The tokens of ${phase} steps are not recorded.`);
      if (loads.length === 0 || loads.length < own.length) return [];
      const times = loads.map(load => {
        const cost = stepCost(shape, load);
        const time = leastTime(cost, limits, part => flopsType(shape, limits, part));
        for (const text of [...time.unknown, ...cost.assumptions]) unknown.add(text);
        return time;
      });
      const mean = (of: (time: LeastTime) => number) =>
        times.reduce((sum, time) => sum + of(time), 0) / times.length;
      const measuredNs = own.reduce((sum, { budget }) => sum + budget.wallNs, 0) / own.length;
      const leastNs = mean(time => time.leastNs);
      const whole: SpeedRow = {
        key: `phase:${phase}/step`,
        phase,
        scope: 'whole step',
        steps: own.length,
        leastNs,
        overlappedNs: mean(time => time.overlappedNs),
        measuredNs,
        gpuBusyNs: own.reduce((sum, { budget }) => sum + budget.wallNs - budget.idleNs, 0) / own.length,
        ofLeast: measuredNs > 0 ? leastNs / measuredNs : null,
        bound: times[0].bound ?? null,
      };
      return [whole, ...familyRows(phase, own.length, times)];
    });
    if (rows.length === 0)
      throw new NotRecorded('tokens per step', 'capture with step markers that include requests and tokens');
    const worst = [...rows].sort((a, b) => (b.ofLeast ?? 0) - (a.ofLeast ?? 0))[0];
    if ((worst.ofLeast ?? 0) > 1)
      throw impossible(`${worst.scope} in ${worst.phase}`, worst.ofLeast!, shape, seen);
    return {
      rows,
      summary: {
        gpu: limits.peak?.name ?? profile.gpus[device].name,
        bandwidthFrom: limits.memoryBandwidthBytesPerSecond?.from ?? null,
        flopsFrom: limits.denseFlops?.from ?? null,
        tensorParallel: ways,
        notes: [...unknown],
      },
    };

    function seenModel(): SeenModel {
      const found = useIfRecorded(layers)?.summary;
      const families = useIfRecorded(kernelFamilies)?.rows ?? [];
      const gemm = families.find(row => row.family === 'gemm');
      const named = found && !(found.methods as string[]).includes('pattern') ? (found.layers as number) : 0;
      const structure = found?.structure as { readonly repeats: number } | null | undefined;
      const sizes = multipliedSizes(profile);
      return {
        ...(sizes ? { sizes } : {}),
        ...(named > 0 ? { layers: named } : {}),
        ...(structure ? { repeats: structure.repeats } : {}),
        hasExpertKernels:
          families.some(row => row.family.startsWith('moe-')) ||
          Boolean(gemm?.variants.some(({ variant }) => variant === 'grouped')),
        hasNarrowGemms: Boolean(
          gemm?.variants.some(({ dtype }) => /^(?:mx|nv)?fp[48]$|^int[48]$/.test(dtype)),
        ),
        ranks: Math.max(ways, profile.capture.ranks.length, 1),
      };
    }

    function familyRows(phase: Phase, count: number, times: readonly LeastTime[]): SpeedRow[] {
      const scopes = new Map<string, { leastNs: number; bound: string | null }>();
      for (const time of times)
        for (const part of time.perPart) {
          const scope = scopeOf(part.family, part.variant);
          const known = scopes.get(scope) ?? { leastNs: 0, bound: part.bound ?? null };
          scopes.set(scope, { ...known, leastNs: known.leastNs + part.leastNs / times.length });
        }
      // Without the length of contexts next to nothing of attention is counted: no bound worth a row.
      const known = [...scopes].filter(([scope]) => scope !== 'attention' || times.every(knowsContexts));
      return known.map(([scope, { leastNs, bound }]): SpeedRow => {
        const total = measured.get(`${phase}/${scope}`);
        const measuredNs = total === undefined ? null : total / count;
        return {
          key: `phase:${phase}/${scope}`,
          phase,
          scope,
          steps: count,
          leastNs,
          overlappedNs: null,
          measuredNs,
          gpuBusyNs: null,
          ofLeast: measuredNs ? leastNs / measuredNs : null,
          bound,
        };
      });
    }

    function measureFamilies(): Map<string, number> {
      const work = use(gpuWork);
      const { selected, first, end, step } = use(selectedWork);
      const { classOf } = use(workFamilies);
      const names = profile.tables.kernels?.name;
      const totals = new Map<string, number>();
      for (let i = first; i < end; i++) {
        if (!selected[i] || step[i] === NONE || work.kind[i] !== WorkKind.kernel) continue;
        const { family, variant } = classOf(names![work.row[i]]);
        const key = `${steps[step[i]].facts.phase}/${scopeOf(family, variant)}`;
        totals.set(key, (totals.get(key) ?? 0) + work.end[i] - work.start[i]);
      }
      return totals;
    }
  },
};

const knowsContexts = (time: LeastTime) => !time.unknown.some(text => /contexts/.test(text));

/** Kernel names tell experts' GEMMs from others, but not a projection from another. */
const scopeOf = (family: string, variant: string): string =>
  family === 'gemm' && variant === 'grouped' ? 'gemm, grouped' : family;

/** What the marker says of a step as load; undefined when it says too little. */
function loadOf(facts: StepFacts, tensorParallel: number): StepLoad | undefined {
  const { contextRequests = 0, generationRequests = 0, contextTokens, contextKvTokens } = facts;
  if (contextRequests === 0 && generationRequests === 0) return undefined;
  if (contextRequests > 0 && contextTokens === undefined) return undefined;
  const generationTokens = Math.max(generationRequests, facts.generationTokens ?? 0);
  return {
    contextRequests,
    contextTokens: Math.max(contextTokens ?? 0, contextRequests),
    // Markers count a prompt's own tokens among those it attends to.
    ...(contextKvTokens === undefined
      ? {}
      : { contextKvTokens: Math.max(0, contextKvTokens - (contextTokens ?? 0)) }),
    generationRequests,
    generationTokens,
    ...(facts.generationKvTokens === undefined ? {} : { generationKvTokens: facts.generationKvTokens }),
    tensorParallel,
  };
}

const groupOfPart: Record<string, WeightGroup> = {
  'qkv projection': 'attention',
  'output projection': 'attention',
  'dense MLP': 'mlp',
  'MoE experts': 'experts',
  'shared experts': 'sharedExperts',
  lm_head: 'lmHead',
};

/** The fastest rate the GPU has for the format the weights are stored in: a bound must not assume a slower one. */
function flopsType(shape: ModelShape, limits: Limits, part: PartCost): FlopsType {
  const rates = limits.denseFlops?.value;
  const group = groupOfPart[part.part];
  const plain: FlopsType = rates?.bf16 === undefined ? 'fp16' : 'bf16';
  if (group === undefined || !shape.weights.quantized.has(group)) return plain;
  const wanted: FlopsType[] = shape.weights.quantizedBits === 4 ? ['fp4', 'fp8'] : ['fp8', 'int8'];
  return wanted.find(type => rates?.[type] !== undefined) ?? plain;
}
