/** "Is routing imbalance my bottleneck?" All that answers it, from counts, from a log of balance or from a profile. */
import type { Note } from '../base/notes.js';
import type { BalanceLog, LoadPhase, LoadSource } from '../model/expert-load.js';
import { meanOf } from '../stats/mean.js';
import { type ExpertTime, proportional } from './cost/expert-time.js';
import type { StepExperts } from './cost/expert-work.js';
import { fitFromProfile } from './cost/fit-profile.js';
import { type MeasuredExperts, measureExperts } from './cost/measured-experts.js';
import { costOf, gainOf, intervalOf, type PlacementCost } from './cost/placement-cost.js';
import type { TimelineBalance } from './cost/timeline-balance.js';
import { answerLayers, type LayerAnswer, spreadOf } from './loads/layer-answers.js';
import type { LoadSummary } from './loads/load-summary.js';
import { placementOf } from './placement/placement.js';
import { type Plan, planLayers } from './placement/plan-layers.js';

/** The guides' figure: a gain above it makes routing the bottleneck. */
const BOTTLENECK_GAIN = 0.1;
/** Where the GPU stands still longer than it works, steps do not wait for the busiest of them. */
const HOST_BOUND = 0.5;

interface MoeQuestion {
  readonly gpus?: number;
  readonly nodes?: number;
  readonly replicas?: number;
  readonly groups?: number;
  readonly time?: ExpertTime;
  /** Experts by step, where no profile says it. */
  readonly expertShare?: number;
  readonly profile?: readonly StepExperts[];
  readonly balance?: TimelineBalance;
  readonly onProgress?: (done: number) => void;
}

export interface MoeAnswer {
  /** Counts per expert; balance as an engine logged it; or only what the time of ranks lets on. */
  readonly basis: 'counted' | 'logged' | 'inferred';
  readonly source: LoadSource | null;
  readonly summary: LoadSummary | null;
  readonly machine: {
    readonly gpus: number;
    readonly from: 'given' | 'ranks' | 'profile' | 'assumed' | 'logged';
    readonly nodes: number;
  };
  readonly time: ExpertTime;
  /** Busiest by mean GPU, mean over layers and iterations. */
  readonly gpuImbalance: number;
  readonly lostShare: number;
  readonly lostInterval: readonly [number, number];
  /** Per step, where experts were measured. */
  readonly lostNs: number | null;
  readonly expertShare: { readonly share: number; readonly from: 'profile' | 'given' } | null;
  readonly hostBound: boolean;
  readonly ceiling: { readonly expertSpeedup: number; readonly stepGain: number | null };
  readonly verdict: 'yes' | 'no' | 'depends';
  /** With `depends`: the share of a step above which experts make routing the bottleneck. */
  readonly shareForBottleneck: number | null;
  readonly layers: readonly LayerAnswer[];
  readonly phases: readonly PhaseAnswer[];
  readonly cost: PlacementCost | null;
  readonly plans: readonly FixPlan[];
  readonly heldOut: boolean;
  readonly measured: MeasuredExperts | null;
  /** What the timeline of several ranks shows layer by layer; null where their collectives were not matched. */
  readonly timeline: TimelineAnswer | null;
  /** Max/mean over GPUs as time goes by, of a log. */
  readonly logged: {
    readonly engine: string;
    readonly mean: number;
    readonly p99: number;
    readonly worst: number;
    readonly points: number;
  } | null;
  readonly notes: readonly Note[];
}

interface TimelineAnswer {
  readonly balance: TimelineBalance;
  /** Steps per second with perfect balance: inferred, and between which bounds. */
  readonly stepGain: number;
  readonly gainInterval: readonly [low: number, high: number];
  /** Whether the gain from counts lies between the bounds; null: nothing was counted. */
  readonly agrees: boolean | null;
}

interface PhaseAnswer {
  readonly phase: LoadPhase;
  readonly iterations: number;
  /** Busiest by mean expert and by mean GPU, over layers and iterations. */
  readonly maxOverMean: number;
  readonly gpuImbalance: number;
  readonly lostShare: number;
}

export interface FixPlan {
  readonly plan: Plan;
  readonly replicas: number;
  /** Part of the loss it wins back; negative: it loses more. */
  readonly recovered: number;
  readonly stepGain: number | null;
}

export function answerFromLoads(summary: LoadSummary, question: MoeQuestion): MoeAnswer {
  const measured = question.profile ? measureExperts(question.profile) : null;
  const machine = machineFor(summary, question, measured);
  const places = Math.ceil(summary.experts / machine.gpus) * machine.gpus;
  const current = placementOf(
    Int32Array.from({ length: places }, (_, i) => i % summary.experts),
    summary.experts,
    machine.gpus,
  );
  const time =
    question.time ?? (question.profile && fitFromProfile(summary, question.profile, current)) ?? proportional;
  const cost = costOf(summary.samples, summary.experts, [current], time);
  const expertShare = shareOf(question, measured);
  const { plans, heldOut } = fixes(summary, question, machine, places, time, expertShare?.share ?? null);
  return {
    basis: 'counted',
    source: summary.source,
    summary,
    machine,
    time,
    gpuImbalance: cost.imbalance,
    ...judged(cost.lostShare, expertShare, measured),
    lostShare: cost.lostShare,
    lostInterval: cost.lostInterval,
    lostNs: measured
      ? cost.lostShare * expertNsOf(question.balance, measured)
      : time.basis === 'assumed'
        ? null
        : cost.ns - cost.balancedNs,
    layers: answerLayers(summary),
    phases: summary.phases.map(({ phase, iterations, maxOverMean }) => {
      const own = summary.samples.filter(sample => sample.phase === phase);
      const { imbalance, lostShare } = costOf(own, summary.experts, [current], time);
      return {
        phase,
        iterations,
        maxOverMean,
        gpuImbalance: own.length > 0 ? imbalance : Number.NaN,
        lostShare,
      };
    }),
    cost,
    plans,
    heldOut,
    measured,
    timeline: timelineOf(question, measured, expertShare && gainOf(expertShare.share * cost.lostShare)),
    logged: null,
    notes: [...summary.notes, ...otherMachine(machine.gpus, measured)],
  };
}

export function answerFromLog(log: BalanceLog, question: MoeQuestion): MoeAnswer {
  const measured = question.profile ? measureExperts(question.profile) : null;
  const ratios = Float64Array.from(log.points, point => point.maxOverMean);
  const lost = log.points.map(point => 1 - 1 / point.maxOverMean);
  const expertShare = shareOf(question, measured);
  return {
    ...withoutCounts(measured, log.notes.list()),
    basis: 'logged',
    source: log.source,
    machine: { gpus: question.gpus ?? Number.NaN, from: 'logged', nodes: question.nodes ?? 1 },
    time: proportional,
    gpuImbalance: meanOf(ratios),
    ...judged(meanOf(lost), expertShare, measured),
    lostShare: meanOf(lost),
    lostInterval: intervalOf(lost),
    lostNs: measured ? meanOf(lost) * expertNsOf(question.balance, measured) : null,
    timeline: timelineOf(question, measured, expertShare && gainOf(expertShare.share * meanOf(lost))),
    logged: { engine: log.engine, points: log.points.length, ...spreadOf(ratios) },
  };
}

/** From the time of ranks alone. Undefined: one device says nothing about others. */
export function answerFromProfile(
  rows: readonly StepExperts[],
  question: MoeQuestion,
): MoeAnswer | undefined {
  const measured = measureExperts(rows);
  if (!measured.inferred) return undefined;
  const timeline = timelineOf(question, measured, null);
  const common = {
    ...withoutCounts(measured, timeline ? [] : [summedNote]),
    basis: 'inferred',
    source: null,
    machine: { gpus: measured.devices, from: 'profile', nodes: question.nodes ?? 1 },
    time: { ...proportional, about: 'inferred: grouped GEMM time per rank is used in place of token counts' },
    lostInterval: [Number.NaN, Number.NaN],
    timeline,
    logged: null,
  } as const;
  if (timeline) {
    const { slowestNs, savedNs, maxOverMean } = timeline.balance;
    const lostShare = savedNs / slowestNs;
    const answer = judged(lostShare, shareOf(question, measured), measured);
    // The bounds are far apart; where they lie on both sides of the line, neither answer is safe.
    const isOpen = answer.verdict === 'no' && !answer.hostBound && timeline.gainInterval[1] > BOTTLENECK_GAIN;
    return {
      ...common,
      gpuImbalance: maxOverMean,
      ...answer,
      ...(isOpen ? { verdict: 'depends' } : {}),
      lostShare,
      lostNs: savedNs,
    };
  }
  const { maxOverMean } = measured.inferred;
  const lostShare = 1 - 1 / maxOverMean;
  return {
    ...common,
    gpuImbalance: maxOverMean,
    ...judged(lostShare, shareOf(question, measured), measured),
    lostShare,
    lostNs: lostShare * measured.expertNs,
  };
}

/** Ranks that are slow in turn look even in totals. */
const summedNote: Note = {
  code: 'summed-over-steps',
  severity: 'warning',
  text: 'collectives of the ranks could not be matched: experts are summed over a step before the slowest rank is taken, so imbalance and loss are lower bounds',
  count: 1,
  example: '',
};

function timelineOf(
  { balance }: MoeQuestion,
  measured: MeasuredExperts | null,
  countedGain: number | null,
): TimelineAnswer | null {
  if (!balance || !measured) return null;
  const gain = (ns: number) => gainOf(ns / measured.stepNs);
  const gainInterval = [gain(balance.lowNs), gain(balance.highNs)] as const;
  return {
    balance,
    stepGain: gain(balance.savedNs),
    gainInterval,
    agrees: countedGain === null ? null : countedGain >= gainInterval[0] && countedGain <= gainInterval[1],
  };
}

const withoutCounts = (measured: MeasuredExperts | null, notes: readonly Note[]) => ({
  summary: null,
  layers: [],
  phases: [],
  cost: null,
  plans: [],
  heldOut: false,
  measured,
  notes,
});

function judged(lostShare: number, expertShare: MoeAnswer['expertShare'], measured: MeasuredExperts | null) {
  const hostBound = measured !== null && measured.idleShare > HOST_BOUND;
  const stepGain = expertShare ? gainOf(expertShare.share * lostShare) : null;
  // The share of a step that must be saved to gain a tenth.
  const needed = 1 - 1 / (1 + BOTTLENECK_GAIN);
  const shareForBottleneck = needed / lostShare;
  const verdict: MoeAnswer['verdict'] =
    stepGain !== null
      ? stepGain > BOTTLENECK_GAIN && !hostBound
        ? 'yes'
        : 'no'
      : shareForBottleneck >= 1
        ? 'no'
        : 'depends';
  return {
    expertShare,
    hostBound,
    ceiling: { expertSpeedup: 1 / (1 - lostShare), stepGain },
    verdict,
    shareForBottleneck: verdict === 'depends' ? shareForBottleneck : null,
  };
}

/** A profile of fewer GPUs holds more experts each: its share of a step is not that of the machine asked about. */
function otherMachine(gpus: number, measured: MeasuredExperts | null): Note[] {
  if (!measured || measured.devices === gpus) return [];
  return [
    {
      code: 'other-machine',
      severity: 'warning',
      text: 'the profile uses a different number of GPUs than requested: the expert share of a step is taken from the profile',
      count: 1,
      example: `${measured.devices} and ${gpus}`,
    },
  ];
}

function machineFor(
  summary: LoadSummary,
  { gpus, nodes = 1 }: MoeQuestion,
  measured: MeasuredExperts | null,
): MoeAnswer['machine'] {
  if (gpus !== undefined) return { gpus, from: 'given', nodes };
  if (summary.ranks !== undefined && summary.ranks > 1) return { gpus: summary.ranks, from: 'ranks', nodes };
  if (measured && measured.devices > 1) return { gpus: measured.devices, from: 'profile', nodes };
  return { gpus: Math.min(8, summary.experts), from: 'assumed', nodes };
}

function shareOf(
  { expertShare, balance }: MoeQuestion,
  measured: MeasuredExperts | null,
): MoeAnswer['expertShare'] {
  if (expertShare !== undefined) return { share: expertShare, from: 'given' };
  return measured ? { share: expertNsOf(balance, measured) / measured.stepNs, from: 'profile' } : null;
}

/** Expert time that a step waits for: the slowest rank of each layer where layers are known, else of the step. */
const expertNsOf = (balance: TimelineBalance | undefined, measured: MeasuredExperts): number =>
  balance?.slowestNs ?? measured.expertNs;

/** Moving experts alone, and with replicas: what each wins back on iterations it has not seen. */
function fixes(
  summary: LoadSummary,
  { replicas, groups, onProgress }: MoeQuestion,
  { gpus, nodes }: MoeAnswer['machine'],
  places: number,
  time: ExpertTime,
  expertShare: number | null,
): { plans: readonly FixPlan[]; heldOut: boolean } {
  if (gpus === 1) return { plans: [], heldOut: false };
  const wanted = replicas === undefined ? places + gpus : summary.experts + replicas;
  const shape = { gpus, nodes, ...(groups === undefined ? {} : { groups }) };
  const moved = planLayers(summary, { ...shape, places }, time, {
    methods: ['plain', 'stepscope'],
    onProgress: done => onProgress?.(done / 2),
  });
  const replicated = planLayers(summary, { ...shape, places: wanted }, time, {
    methods: ['eplb-hierarchical', 'eplb-global', 'stepscope-hierarchical', 'stepscope'],
    onProgress: done => onProgress?.(0.5 + done / 2),
  });
  const base = moved.plans[0].cost;
  const fix = (plan: Plan, own: number): FixPlan => {
    const saved = base.ns > 0 ? 1 - plan.cost.ns / base.ns : 0;
    return {
      plan,
      replicas: own,
      recovered: base.ns > base.balancedNs ? (base.ns - plan.cost.ns) / (base.ns - base.balancedNs) : 0,
      stepGain: expertShare === null ? null : gainOf(expertShare * saved),
    };
  };
  return {
    plans: [
      ...moved.plans.map(plan => fix(plan, places - summary.experts)),
      ...replicated.plans.map(plan => fix(plan, wanted - summary.experts)),
    ],
    heldOut: moved.heldOut,
  };
}
