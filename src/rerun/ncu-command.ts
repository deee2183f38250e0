/**
 * The Nsight Compute command that measures one launch of a kernel, in a step that is typical. Nsight Compute runs the
 * kernel again for each group of counters, so it must know which launch: by the function's name, and by how many launches
 * of that function come before.
 */
import type { Analyzer, Derived } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { workFamilies } from '../analyze/gpu/work-families.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { typicalStep } from '../analyze/inference/typical-step.js';
import { NONE } from '../base/column.js';
import { UserError } from '../base/user-error.js';
import { createClassifier } from '../catalog/kernels/classify.js';
import { profilers } from '../catalog/profilers.js';
import type { Row } from '../model/profile.js';
import { RangeKind } from '../model/schema.js';
import { medianOf } from '../stats/summary.js';

export const ncuReads: readonly Derived<unknown>[] = [gpuWork, workFamilies, stepsOf, typicalStep];

interface NcuTarget {
  /** As the profile has it, and as Nsight Compute filters it: without namespace, template and arguments. */
  readonly kernel: string;
  readonly functionName: string;
  /** Launches of the function before the one to measure: in the range of the step, else since the recording began. */
  readonly skip: number;
  readonly launches: number;
  /** Of the kernel of this very name. */
  readonly medianNs: number;
  /** The step it is in; null: no steps were found. */
  readonly step: number | null;
  /** NVTX range of the step, where the program pushes one. */
  readonly range: string | null;
}

export function ncuTarget(analyzer: Analyzer, wanted: string): NcuTarget {
  const { profile } = analyzer;
  const work = analyzer.get(gpuWork);
  const kernels = profile.tables.kernels!;
  const text = wanted.toLowerCase();
  const { classOf } = analyzer.get(workFamilies);
  const named = new Map<number, boolean>();
  const nameOf = (i: number) => kernels.name[work.row[i]];
  // A family by its name, where the word is none of a kernel: gemm, attention.
  const fits = (name: number) => {
    const full = profile.strings.text(name).toLowerCase();
    return full.includes(text) || classOf(name).family === text;
  };
  const isWanted = (name: number) => {
    let known = named.get(name);
    if (known === undefined) {
      known = fits(name);
      named.set(name, known);
    }
    return known;
  };
  const timeOf = new Map<number, number>();
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel || !isWanted(nameOf(i))) continue;
    timeOf.set(nameOf(i), (timeOf.get(nameOf(i)) ?? 0) + work.end[i] - work.start[i]);
  }
  const typical = analyzer.getIfRecorded(typicalStep);
  const inStep = typical ? [...typical.work].filter(i => work.kind[i] === WorkKind.kernel) : [];
  const byTime = [...timeOf].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  // One that the typical step runs is worth more than one that only start-up runs.
  const name = byTime.find(own => inStep.some(i => nameOf(i) === own)) ?? byTime[0];
  if (name === undefined)
    throw new UserError(
      'not-recorded',
      `No kernel of this profile has ${JSON.stringify(wanted)} in its name.`,
      `Find its name: stepscope search FILE --name ${wanted.replace(/[^\w:]+/g, '.')}`,
    );
  const functionName = functionOf(profile.strings.text(name));
  const own: number[] = [];
  const isFunction = new Map<number, boolean>();
  for (let i = 0; i < work.length; i++) {
    if (work.kind[i] !== WorkKind.kernel) continue;
    let same = isFunction.get(nameOf(i));
    if (same === undefined) {
      same = functionOf(profile.strings.text(nameOf(i))) === functionName;
      isFunction.set(nameOf(i), same);
    }
    if (same) own.push(i);
  }
  const measured = own.filter(i => nameOf(i) === name);
  const lengths = Float64Array.from(measured, i => work.end[i] - work.start[i]);
  const medianNs = medianOf(lengths.slice());
  const candidates = measured.filter(i => inStep.includes(i));
  const from = candidates.length > 0 ? candidates : measured;
  const nearest = (i: number) => Math.abs(work.end[i] - work.start[i] - medianNs);
  const chosen = from.reduce((best, i) => (nearest(i) < nearest(best) ? i : best));
  const process = profile.streams[work.stream[chosen]].process;
  const order = (i: number) => launchedAt(i);
  const before = own.filter(
    i =>
      profile.streams[work.stream[i]].process === process &&
      (order(i) < order(chosen) || (order(i) === order(chosen) && work.start[i] < work.start[chosen])),
  );
  const step = candidates.length > 0 ? typical!.window.step : NONE;
  const steps = analyzer.getIfRecorded(stepsOf);
  const range = step === NONE ? null : rangeOfStep();
  return {
    kernel: profile.strings.text(name),
    functionName,
    skip: range === null ? before.length : before.filter(i => order(i) >= range.start).length,
    launches: measured.length,
    medianNs,
    step: step === NONE ? null : steps!.steps[step].iteration,
    range: range?.label ?? null,
  };

  /** Kernels of a graph start in order; others were launched in order. */
  function launchedAt(i: number): number {
    const launch = work.launch[i];
    return launch === NONE ? work.start[i] : profile.tables.apiCalls!.start[launch];
  }

  /** The program's own range, if it is the only one of its name: then launches are counted inside it. */
  function rangeOfStep(): { label: string; start: number } | null {
    const run = steps!.steps[step].runs[0];
    const lane = steps!.lanes[run.lane];
    const own = lane.runs[run.run];
    const ranges = profile.tables.ranges;
    if (own.label === '' || !ranges || !profilers[profile.capture.profiler].rangesAreNvtx) return null;
    let same = 0;
    for (let row = 0 as Row<'ranges'>; row < ranges.length; row++)
      if (
        ranges.name[row] !== NONE &&
        ranges.kind[row] === RangeKind.pushPop &&
        profile.strings.text(ranges.name[row]) === own.label
      )
        same++;
    return same === 1 ? { label: own.label, start: own.start } : null;
  }
}

/** Nsight Compute's `function`: the last part of the qualified name. */
function functionOf(name: string): string {
  return classifier.explain(name).functionName.split('::').at(-1) || name;
}

const classifier = createClassifier();

/** What one would type; `report` without its ending. */
export function ncuArguments(
  { functionName, skip, range }: NcuTarget,
  report: string,
  set: string,
): string[] {
  return [
    ...['--target-processes', 'all', '--set', set],
    ...['--kernel-name-base', 'function', '--kernel-name', functionName],
    // An include filter ends with a slash where the range is pushed and popped.
    ...(range === null ? [] : ['--nvtx', '--nvtx-include', `${range.replace(/[\\/@[\]+*,]/g, '\\$&')}/`]),
    ...['--launch-skip', String(skip), '--launch-count', '1'],
    ...['--export', report, '--force-overwrite'],
  ];
}
