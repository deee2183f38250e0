/**
 * Did the capture get what it was made for? Looked at while the command is still at hand, so that what is missing comes
 * with the command that records it. Pure: a profile and what was asked for give checks and corrections.
 */
import { Analyzer } from '../analyze/analysis.js';
import { iterations } from '../analyze/inference/iterations.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { summarizeCapture } from '../analyze/info.js';
import { profilerCost, profilerCostText, savingText } from '../analyze/undisturbed/profiler-cost.js';
import { formatBytes, formatCount, plural } from '../base/units.js';
import type { Profile } from '../model/profile.js';
import type { IterationSpan } from './capture-plan.js';
import { type Correctable, type Correction, correct, hasOption, ownWords } from './correct-command.js';

export interface Asked extends Correctable {
  /** First and last belong to it. */
  readonly window?: IterationSpan;
  /** Where there are several, each; `window` is then all they span. */
  readonly windows?: readonly IterationSpan[];
  /** How many were asked for where they have no numbers, and of which phase. */
  readonly stepCount?: number;
  readonly phase?: 'decode' | 'prefill';
  readonly ranks?: number;
  readonly estimateBytes?: number;
}

export interface CaptureCheck {
  readonly id:
    | 'gpu-work'
    | 'ranks'
    | 'iterations'
    | 'markers'
    | 'graphs'
    | 'profiler-cost'
    | 'losses'
    | 'size';
  /** `bad`: it cannot answer. `poor`: it answers less than it could. */
  readonly state: 'good' | 'poor' | 'bad';
  readonly text: string;
  readonly fix?: string;
  /** Other ways, that help less. */
  readonly otherFixes?: readonly string[];
}

interface CaptureVerdict {
  readonly checks: readonly CaptureCheck[];
  /** What to run instead, where a flag or variable puts it right. */
  readonly corrected?: Correctable;
}

/** Beyond this the estimate helped nobody. */
const FAR_FROM_ESTIMATE = 4;
/** Smaller reports open at once, whatever was expected. */
const SMALL_BYTES = 50e6;
const START_STOP = 'TLLM_PROFILE_START_STOP';

export function judgeCapture(profile: Profile, asked: Asked): CaptureVerdict {
  const { tables } = profile;
  const working = Boolean(tables.kernels ?? tables.graphLaunches ?? tables.copies ?? tables.memsets);
  const analyzer = new Analyzer(profile, {});
  const all = [
    ...judgeGpuWork(profile, working, asked),
    ...judgeRanks(profile, asked),
    ...judgeMarkers(profile, working, asked),
    ...judgeSteps(analyzer, asked),
    ...(working ? judgeGraphs(profile) : []),
    ...(working ? judgeProfiler(analyzer) : []),
    ...judgeLosses(profile),
    ...judgeSize(profile, asked),
  ];
  const checks = all.map(({ check }) => check);
  const corrections = all.flatMap(({ corrections: found }) => found);
  if (corrections.length === 0) return { checks };
  return { checks, corrected: correct<Correctable>(asked, corrections) };
}

interface Judged {
  readonly check: CaptureCheck;
  readonly corrections: readonly Correction[];
}

const judged = (check: CaptureCheck, ...corrections: Correction[]): Judged[] => [{ check, corrections }];

function judgeGpuWork(profile: Profile, working: boolean, asked: Asked): Judged[] {
  if (working) {
    const kernels = profile.tables.kernels?.length ?? 0;
    const text = kernels > 0 ? plural(kernels, 'kernel') : 'GPU work, but no kernels';
    return judged({ id: 'gpu-work', state: 'good', text });
  }
  const text = 'no GPU work was recorded';
  if (asked.nsysAt >= 0 && !hasOption(asked, '--trace-fork-before-exec'))
    return judged(
      {
        id: 'gpu-work',
        state: 'bad',
        text,
        fix: 'the engine runs in a child process: use --trace-fork-before-exec=true',
      },
      { option: ['--trace-fork-before-exec', 'true'] },
    );
  const waits = hasOption(asked, '-c') || hasOption(asked, '--capture-range');
  const fix = waits
    ? 'the run did not reach the window, or another process runs the model: profile the server, not its client'
    : 'profile the process that runs the model, not its client; check nvidia-smi and CUDA_VISIBLE_DEVICES on that machine';
  return judged({ id: 'gpu-work', state: 'bad', text, fix });
}

function judgeRanks(profile: Profile, asked: Asked): Judged[] {
  const { ranks, files, distributed } = profile.capture;
  const wanted = asked.ranks ?? distributed?.worldSize ?? 1;
  if (wanted <= 1) return [];
  const there = ranks.length > 0 ? ranks.length : files.length;
  if (there >= wanted) return judged({ id: 'ranks', state: 'good', text: `all ${wanted} ranks` });
  const missing = Array.from({ length: wanted }, (_, rank) => rank).filter(rank => !ranks.includes(rank));
  const named = ranks.length > 0 ? `, without ${missing.slice(0, 8).join(', ')}` : '';
  return judged({
    id: 'ranks',
    state: 'poor',
    text: `${there} of ${wanted} ranks${named}`,
    fix: 'each rank needs its own nsys and output name: put nsys after the launcher and %q{RANK} in -o',
  });
}

function judgeMarkers(profile: Profile, working: boolean, asked: Asked): Judged[] {
  const { markers } = summarizeCapture(profile);
  if (markers.length > 0) {
    const text = `${plural(markers[0].count, 'step marker')} of ${markers[0].engine}`;
    return judged({ id: 'markers', state: 'good', text });
  }
  if (!working) return [];
  return judged({
    id: 'markers',
    state: 'poor',
    text: 'no step markers: steps are inferred from the kernels',
    fix: hasNvtx(asked)
      ? '--agent marks the steps of Python programs; otherwise turn on the NVTX ranges of the engine'
      : 'also record NVTX ranges: -t cuda,nvtx',
  });
}

function judgeSteps(analyzer: Analyzer, asked: Asked): Judged[] {
  const outcome = analyzer.run(iterations);
  const rows =
    outcome.status === 'ok'
      ? (outcome.result.rows as readonly { readonly iteration: number; readonly phase?: string }[])
      : [];
  if (asked.stepCount !== undefined) return judgeDemand(asked.stepCount, rows, asked.phase);
  if (asked.window && rows.length > 0 && !analyzer.get(stepsOf)?.numbered)
    return judgeCount(asked.window, rows.length, asked);
  if (asked.window)
    return judgeWindow(
      asked.window,
      rows.map(row => row.iteration),
      asked,
    );
  return rows.length === 0
    ? []
    : judged({ id: 'iterations', state: 'good', text: plural(rows.length, 'step') });
}

/** A window that opened by what the engine reported: only how many steps it has, and of which phase, was asked for. */
function judgeDemand(
  wanted: number,
  rows: readonly { readonly phase?: string }[],
  phase: Asked['phase'],
): Judged[] {
  const seen = plural(rows.length, 'step');
  const others = phase ? rows.filter(row => row.phase !== undefined && row.phase !== phase).length : 0;
  if (rows.length === wanted && others === 0)
    return judged({
      id: 'iterations',
      state: 'good',
      text: `${seen}${phase ? `, all ${phase}` : ''}, as requested`,
    });
  if (others > 0)
    return judged({
      id: 'iterations',
      state: 'poor',
      text: `${seen}, ${others} of them not ${phase} alone`,
      fix: `results of ${phase} refer to the other steps; for fewer of them, lower --steps or the number of requests`,
    });
  return judged({
    id: 'iterations',
    state: rows.length === 0 ? 'bad' : 'poor',
    text: `${seen} instead of ${formatCount(wanted)}`,
    fix:
      rows.length < wanted
        ? 'the run ended inside the window, or not every step was found: send longer requests, or mark steps with --agent'
        : 'the window stayed open longer than requested; results refer to the observed steps',
  });
}

/** More stretches than these are no windows but holes. */
const MOST_SPANS = 8;

/** 5, 6, 7, 20 as "5-7, 20". */
function spansText(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  const spans: [number, number][] = [];
  for (const number of sorted) {
    const last = spans.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else spans.push([number, number]);
  }
  if (spans.length > MOST_SPANS) return `${sorted[0]}-${sorted[sorted.length - 1]}, with gaps`;
  return spans.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(', ');
}

/** The numbers in the file are positions: markers without numbers, or no markers. Only how many there are can be judged. */
function judgeCount(window: IterationSpan, seen: number, { windows = [window] }: Asked): Judged[] {
  const wanted = windows.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const unnumbered = 'the capture does not number its steps';
  if (seen === wanted)
    return judged({
      id: 'iterations',
      state: 'good',
      text: `${plural(seen, 'step')}, as requested; ${unnumbered}`,
    });
  return judged({
    id: 'iterations',
    state: 'poor',
    text: `${plural(seen, 'step')} instead of ${formatCount(wanted)}; ${unnumbered}`,
    fix:
      seen < wanted
        ? 'the run ended inside the window, or not every step was found: send more requests, or mark steps with --agent'
        : 'the window stayed open longer than requested; results refer to the observed steps',
  });
}

function judgeWindow(window: IterationSpan, seen: readonly number[], asked: Asked): Judged[] {
  const windows = asked.windows ?? [window];
  const wanted = windows.map(({ first, last }) => `${first}-${last}`).join(', ');
  if (seen.length === 0)
    return judged({
      id: 'iterations',
      state: 'bad',
      text: `none of the steps ${wanted} was captured`,
      fix: 'the run ended before the window, or has no step markers: request earlier iterations or send more requests',
    });
  const first = Math.min(...seen);
  const last = Math.max(...seen);
  const observed = `iterations ${spansText(seen)}`;
  const empty = windows.filter(span => !seen.some(number => span.first <= number && number <= span.last));
  if (empty.length > 0 && empty.length < windows.length)
    return judged({
      id: 'iterations',
      state: 'poor',
      text: `${observed} of ${wanted}`,
      fix: 'the run ended before the last window, or nsys kept only some reports: check its messages above',
    });
  if (first === window.first && last === window.last)
    return judged({ id: 'iterations', state: 'good', text: `${observed}, as requested` });
  if (first === window.first && last === window.last - 1 && asked.env[START_STOP])
    return judged(
      {
        id: 'iterations',
        state: 'poor',
        text: `${observed} of ${wanted}: this TensorRT-LLM version excludes the end of the range`,
        fix: `${START_STOP}=${window.first}-${window.last + 1}`,
      },
      { variable: [START_STOP, `${window.first}-${window.last + 1}`] },
    );
  if (last < window.first || first > window.last)
    return judged({
      id: 'iterations',
      state: 'bad',
      text: `${observed}, none of ${wanted}`,
      fix: 'loop passes and step numbers may be counted differently here: shift the requested range by the difference',
    });
  const short = first >= window.first && last < window.last;
  return judged({
    id: 'iterations',
    state: 'poor',
    text: `${observed} of ${wanted}`,
    fix: short
      ? 'the run ended inside the window: send more requests, or use an earlier window'
      : 'the window opened at a different step than requested; results refer to the observed steps',
  });
}

function judgeGraphs(profile: Profile): Judged[] {
  const { cudaGraphs } = summarizeCapture(profile);
  if (cudaGraphs === 'blocks')
    return judged(
      {
        id: 'graphs',
        state: 'poor',
        text: 'CUDA graphs were recorded as single blocks: their kernels are hidden',
        fix: '--cuda-graph-trace=node',
      },
      { option: ['--cuda-graph-trace', 'node'] },
    );
  const text = cudaGraphs === 'nodes' ? 'CUDA graphs node by node' : 'no CUDA graphs';
  return judged({ id: 'graphs', state: 'good', text });
}

/** Which of these to give up is for the user to decide, so the command is not corrected. */
function judgeProfiler(analyzer: Analyzer): Judged[] {
  const cost = analyzer.get(profilerCost);
  if (!cost) return [];
  const [fix, ...otherFixes] = [
    ...cost.savings.map(savingText),
    ...(cost.row.source === 'estimate' ? ['--agent --calibrate measures it in a second run'] : []),
  ];
  return judged({
    id: 'profiler-cost',
    state: 'poor',
    text: profilerCostText(cost),
    ...(fix === undefined ? {} : { fix, otherFixes }),
  });
}

function judgeLosses(profile: Profile): Judged[] {
  const lost = profile.notes.filter(({ severity, code }) => severity === 'loss' && code !== 'graph-blocks');
  if (lost.length === 0) return [];
  const text = lost.map(note => `${formatCount(note.count)} ${note.text}`).join('; ');
  return judged({
    id: 'losses',
    state: 'poor',
    text,
    fix: 'record less (fewer iterations, no sampling), or use a faster disk',
  });
}

function judgeSize(profile: Profile, { estimateBytes }: Asked): Judged[] {
  const { sizeBytes } = profile.capture;
  if (!estimateBytes) return [];
  const text = `${formatBytes(sizeBytes)}, about ${formatBytes(estimateBytes)} expected`;
  if (sizeBytes <= Math.max(SMALL_BYTES, FAR_FROM_ESTIMATE * estimateBytes))
    return judged({ id: 'size', state: 'good', text });
  return judged({
    id: 'size',
    state: 'poor',
    text,
    fix: 'use fewer iterations or --sample=none to keep it small',
  });
}

const hasNvtx = ({ command, nsysAt }: Asked) =>
  nsysAt >= 0 && ownWords(command, nsysAt).some(word => /(^|[=,])nvtx(,|$)/.test(word));
