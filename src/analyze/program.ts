/**
 * The program that was profiled, as far as the capture tells: which engine, whether it runs on PyTorch, whether its
 * scheduler overlaps steps, how its weights are stored. Advice stands on this; what is not known is not assumed.
 */
import { NONE } from '../base/column.js';
import { COMMAND_ENGINE, COMMAND_FLAGS } from '../catalog/command-flags.js';
import { engineEvidence, isFrom } from '../catalog/engine-evidence.js';
import { engineLabelled, engines } from '../catalog/engines.js';
import { functionOfFrame, KERNEL_LAUNCH } from '../catalog/host-activities.js';
import { oncePerProfile } from '../model/once-per-profile.js';
import type { Profile, Row } from '../model/profile.js';
import type { Derived } from './analysis.js';
import { kernelFamilies } from './gpu/kernel-families.js';
import { iterations } from './inference/iterations.js';
import { readsOwnResult } from './inference/own-result-waits.js';
import { stepWork } from './inference/step-work.js';
import { nameTest } from './name-test.js';
import { countNamed, namesUsed } from './names-used.js';

export interface ProfiledProgram {
  /** Label of the engine; empty where nothing tells it. */
  readonly engine: string;
  readonly version?: string;
  readonly usesTorch: boolean;
  /** The GPU is AMD's: what NVIDIA calls CUDA is called HIP there. */
  readonly isAmd: boolean;
  /** The host works on the next step while the GPU runs the one before it. */
  readonly overlapsSteps: boolean;
  /** Some GEMMs read weights of 4 bits: 8 bits would be more, and what is left in 16 was left so on purpose. */
  readonly hasNarrowWeights: boolean;
  /** A graph is being recorded by the program: most launches only put a node into it and run nothing. */
  readonly capturesGraph: boolean;
  /** Options on the recorded command line, by name; undefined where none was recorded. */
  readonly flags?: readonly string[];
  /** Python stacks were recorded: each call of a function cost the host time. */
  readonly hasStacks: boolean;
}

/** Stored in 4 bits, or named for a kernel that reads such weights. */
const NARROW_TYPES = new Set(['fp4', 'nvfp4', 'mxfp4', 'int4']);
const NARROW_KERNELS = /marlin|machete|mxfp4|nvfp4|mxe2m1|(?:^|[^a-z])(?:awq|nf4)|gptq|exllama|w4a(?:8|16)/i;
/** Of the GEMM time, from which narrow weights are the model's own format and no stray kernel. */
const NARROW_SHARE = 0.05;
const TORCH_KERNEL = /\bat::native\b|\bat::cuda\b|\bc10::/;

export const program: Derived<ProfiledProgram> = {
  id: 'program',
  reads: { frames: [], ops: [], kernels: [], apiCalls: [] },
  uses: [iterations, stepWork, readsOwnResult, kernelFamilies],
  compute({ profile, useIfRecorded }) {
    const marked = (useIfRecorded(iterations)?.summary?.engine ?? '') as string;
    const frames = frameNames(profile);
    const known = engineOf(profile, marked, frames);
    const evidence = engineEvidence.find(({ engine }) => engine.label === known);
    const name = engineLabelled(known)?.package;
    const version = name === undefined ? undefined : profile.capture.versions[name];
    const kernels = kernelNames(profile);
    const functions = frames.map(functionOfFrame);
    const flags = profile.capture.settings[COMMAND_FLAGS]?.split(' ');
    return {
      engine: known,
      ...(flags === undefined ? {} : { flags }),
      ...(version === undefined ? {} : { version }),
      usesTorch:
        profile.capture.versions.torch !== undefined ||
        (profile.tables.ops?.length ?? 0) > 0 ||
        kernels.some(text => TORCH_KERNEL.test(text)),
      isAmd: isAmd(profile),
      // What was recorded comes before what a release does by default.
      overlapsSteps:
        runsAhead() ||
        (!useIfRecorded(readsOwnResult) &&
          (functions.some(text => evidence?.overlapping.test(text)) ||
            overlapsAsStarted(evidence, version, flags))),
      hasNarrowWeights: narrowShare() >= NARROW_SHARE,
      capturesGraph: launchesRunNothing(profile),
      hasStacks: frames.length > 0,
    };

    /** Most steps begin on the host before the GPU has done the step before them. */
    function runsAhead(): boolean {
      const work = useIfRecorded(stepWork);
      if (!work) return false;
      let pairs = 0;
      let ahead = 0;
      for (const indexes of work.byDevice.values())
        indexes.slice(1).forEach((index, i) => {
          const before = work.deviceRuns[indexes[i]];
          const own = work.deviceRuns[index];
          if (Number.isNaN(before.gpuEnd) || own.step === before.step) return;
          pairs++;
          if (work.steps.lanes[own.lane].runs[own.run].start < before.gpuEnd) ahead++;
        });
      return pairs > 0 && ahead > pairs / 2;
    }

    function narrowShare(): number {
      const gemm = useIfRecorded(kernelFamilies)?.rows.find(row => row.family === 'gemm');
      if (!gemm || gemm.totalNs === 0) return 0;
      const typed = gemm.variants.filter(({ dtype }) => NARROW_TYPES.has(dtype));
      const byType = typed.reduce((sum, { totalNs }) => sum + totalNs, 0) / gemm.totalNs;
      return Math.max(byType, narrowNs(profile) / gemm.totalNs);
    }
  },
};

/** What the release does by default, unless the command says otherwise. */
function overlapsAsStarted(
  evidence: (typeof engineEvidence)[number] | undefined,
  version: string | undefined,
  flags: readonly string[] | undefined,
): boolean {
  if (!evidence) return false;
  const { overlapFlags, overlapsFrom } = evidence;
  if (overlapFlags && flags?.includes(overlapFlags.off)) return false;
  if (overlapFlags?.on !== undefined && flags?.includes(overlapFlags.on)) return true;
  if (overlapFlags?.default && flags !== undefined) return true;
  return version !== undefined && overlapsFrom !== undefined && isFrom(version, overlapsFrom);
}

/**
 * Names of programs and files decide where they agree on one engine: markers are imitated (a tool that wants to read
 * one engine's annotations makes the other write them), packages are not.
 */
function engineOf(profile: Profile, marked: string, frames: readonly string[]): string {
  const names = [...profile.processes, ...profile.threads].map(({ name }) => name);
  const told = engineEvidence.filter(
    ({ engine, programs, frames: files }) =>
      names.some(name => programs.test(name)) ||
      profile.capture.settings[COMMAND_ENGINE] === engine.label ||
      (engine.package !== undefined && profile.capture.versions[engine.package] !== undefined) ||
      frames.some(frame => files.test(frame)),
  );
  return told.length === 1 ? told[0].engine.label : marked === engines.agent.label ? '' : marked;
}

export function isAmd({ gpus, strings, tables }: Profile): boolean {
  if (gpus.some(({ name }) => /^AMD\b|Instinct|Radeon/.test(name))) return true;
  const calls = tables.apiCalls;
  if (gpus.some(({ name }) => /NVIDIA|Tesla|Quadro|GeForce/.test(name)) || !calls) return false;
  return calls.length > 0 && /^hip[A-Z]/.test(strings.text(calls.name[0 as Row<'apiCalls'>]));
}

export const graphWord = (onAmd: boolean): string => (onAmd ? 'HIP graphs' : 'CUDA graphs');

/** Between begin and end of a capture, a launch call adds a node; kernels run when the graph is launched. */
const launchesRunNothing = oncePerProfile((profile): boolean => {
  const begun = countNamed(profile, 'apiCalls', nameTest(profile, /StreamBeginCapture/));
  const launches = countNamed(profile, 'apiCalls', nameTest(profile, KERNEL_LAUNCH));
  return begun > 0 && (profile.tables.kernels?.length ?? 0) < launches / 2;
});

/** Each name once, rows without one left out. */
function distinct(profile: Profile, length: number, idOf: (row: number) => number): string[] {
  const seen = new Set<number>();
  for (let row = 0; row < length; row++) if (idOf(row) !== NONE) seen.add(idOf(row));
  return [...seen].map(id => profile.strings.text(id));
}

const frameNames = oncePerProfile((profile): string[] => {
  const frames = profile.tables.frames;
  return frames ? distinct(profile, frames.length, row => frames.name[row as Row<'frames'>]) : [];
});

const kernelNames = (profile: Profile): string[] =>
  namesUsed(profile, 'kernels').map(id => profile.strings.text(id));

const narrowNs = oncePerProfile((profile): number => {
  const kernels = profile.tables.kernels;
  const matches = nameTest(profile, NARROW_KERNELS);
  let total = 0;
  if (countNamed(profile, 'kernels', matches) === 0) return total;
  for (let row = 0 as Row<'kernels'>; row < (kernels?.length ?? 0); row++)
    if (matches(kernels!.name[row])) total += kernels!.end[row] - kernels!.start[row];
  return total;
});
