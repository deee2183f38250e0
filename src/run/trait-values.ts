/** How the traits of a side are read from its runs, and which of them need more than equality to be alike. */
import { formatShare } from '../base/units.js';
import { profilers } from '../catalog/profilers.js';
import type { RecordingFacts, RunFacts } from './run.js';
import { type Effect, isProfiled, type Side, type Value } from './trait.js';

/** Of GEMM time: what a number type may gain or lose, and below which it is not told. */
const SAME_SHARE = 0.1;

export const graphWords = { none: 'none', nodes: 'node by node', blocks: 'as blocks' } as const;
export type Said = Value | null | undefined;

export const once = (values: readonly Said[]): Value[] =>
  [...new Set(values.filter(value => value !== null && value !== undefined && value !== ''))] as Value[];

/** Of the runs that have a profile. */
export const ofFacts = (of: (facts: RunFacts) => Said) => (side: Side) =>
  once(side.filter(isProfiled).map(run => of(run.facts)));
export const ofCapture = (of: (facts: RecordingFacts) => Said) => (side: Side) =>
  once(side.map(({ profile }) => profile && of(profile.capture)));

/** What a benchmark prints, where it is a run of its own beside the profile. */
const printed = (of: (facts: RunFacts) => Said) => (side: Side) =>
  once(side.filter(run => !isProfiled(run)).map(run => of(run.facts)));

/** A profile of a part of the GPUs and a benchmark of all say both. */
export function gpus(side: Side): Value[] {
  const [[profiled], [all]] = [ofFacts, printed].map(of => of(({ gpus: count }) => count || null)(side));
  return profiled === undefined || all === undefined || profiled === all
    ? once([profiled ?? all])
    : [`${profiled} of ${all}`];
}

export const gpu = (side: Side): Value[] => {
  const [profiled, all] = [ofFacts, printed].map(of => of(({ gpu: name }) => name)(side));
  return profiled.length > 0 ? profiled : all;
};
export const byHardware = (sides: readonly Side[]): Effect =>
  sides.some(side => side.some(isProfiled)) ? 'weakens' : 'explains';

/** Layers by a pattern may miss the first or span two: then a difference is not known to be one. */
export function sameLayers(a: Side, b: Side): boolean | undefined {
  const [ours, theirs] = [a, b].map(side => side.find(run => run.facts.model)!.facts.model!);
  if (ours.layers === theirs.layers) return true;
  const total = (model: typeof ours) => model.layers * model.kernelsPerLayer;
  // Two layers that alternate may be found as one repetition: the stretch that repeats is then as long.
  if (total(ours) === total(theirs)) return true;
  const [least, most] = [ours.layers, theirs.layers].sort((x, y) => x - y);
  const mayBeSame = most - least <= 1 || Math.abs(most - 2 * least) <= Math.max(1, 0.06 * most);
  return (ours.guessed || theirs.guessed) && mayBeSame ? undefined : false;
}

/** As the benchmark prints it, else the number types most GEMM time is spent in. */
export function precision(side: Side): Value[] {
  const stated = once(side.map(({ bench }) => sameSpelling(bench?.quantization ?? bench?.dtype)));
  return stated.length > 0 ? stated : ofCapture(({ gemmTypes }) => typesText(gemmTypes))(side);
}

export function samePrecision(a: Side, b: Side): boolean {
  const typesOf = (side: Side) => side.find(run => run.profile)?.profile?.capture.gemmTypes ?? {};
  const [ours, theirs] = [typesOf(a), typesOf(b)];
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])];
  const isPrinted = [a, b].some(side => side.some(({ bench }) => bench?.quantization ?? bench?.dtype));
  if (isPrinted || names.length === 0) return precision(a).join() === precision(b).join();
  return names.every(type => Math.abs((ours[type] ?? 0) - (theirs[type] ?? 0)) <= SAME_SHARE);
}

/** `bfloat16` and `BF16` are one. */
const sameSpelling = (dtype: string | undefined): string | undefined =>
  dtype
    ?.toLowerCase()
    .replace(/^bfloat16$/, 'bf16')
    .replace(/^(float16|half)$/, 'fp16')
    .replace(/^float32$/, 'fp32')
    .replace(/^(float8|fp8)?_?(e4m3|e5m2)(fn)?$/, 'fp8');

function typesText(types: RecordingFacts['gemmTypes']): string {
  const most = Object.entries(types).filter(([, share]) => share >= SAME_SHARE);
  return most.map(([type, share]) => (most.length === 1 ? type : `${type} ${formatShare(share)}`)).join(', ');
}

export const hidesKernels = (sides: readonly Side[]): boolean =>
  sides.some(side => side.some(run => run.facts.graphs === 'blocks')) &&
  !sides.every(side => side.some(run => run.facts.graphs === 'blocks'));
export const byGraphs = (sides: readonly Side[]): Effect => (hidesKernels(sides) ? 'weakens' : 'explains');

/** What was recorded and how, less what only says when. */
const ABOUT_TIME = /DURATION|DELAY|TRIGGER|FLUSH|START|STOP|INCLUDE_CHILDREN/;

/** Only flags that differ are told. */
export function flags(side: Side, sides: readonly Side[]): Value[] {
  const settingsOf = (one: Side) => one.find(run => run.profile)?.profile?.capture.settings ?? {};
  const all = sides.map(settingsOf);
  const own = settingsOf(side);
  if (Object.keys(own).length === 0 || profilersOf(sides.flat()).length > 1) return [];
  const names = [...new Set(all.flatMap(Object.keys))].filter(
    name => !ABOUT_TIME.test(name) && all.some(other => other[name] !== all[0][name]),
  );
  return [
    names
      .sort()
      .map(name => `${name}=${own[name] ?? ''}`)
      .join(' ') || 'the same',
  ];
}

export const profilerName = (profiler: RunFacts['profiler']): string =>
  profiler === 'none' ? '' : profilers[profiler].short;
export const profilersOf = ofFacts(({ profiler }) => profilerName(profiler));
