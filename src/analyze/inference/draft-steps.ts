/**
 * Steps of a draft model among those of the model it drafts for. Engines mark both alike, and a mean over them is a
 * step that never was. A draft is a smaller model: with the same marker and batch it runs far fewer GEMMs and far fewer
 * attention kernels. Fewer of one kind alone are another kernel for the same layer (split attention, fused GEMMs).
 */
import { lowerBound } from '../../base/bisect.js';
import type { Profile } from '../../model/profile.js';
import { type GpuWork, WorkKind } from '../gpu/gpu-work.js';
import { familyIndex, type WorkFamilies } from '../gpu/work-families.js';
import type { Lane } from './lane.js';
import { type LaunchedWork, launchedByProcess } from './launched-work.js';

/** A draft runs at most this share of the kernels of its target, and steps of one model at least the other. */
const DRAFT_SHARE = 0.6;
const SAME_SHARE = 0.85;

const GEMM = familyIndex('gemm');
const ATTENTION = familyIndex('attention');

type LaneRun = Lane['runs'][number];

interface Counted {
  readonly run: LaneRun;
  readonly gemms: number;
  readonly attention: number;
  /** Of its kernels, in order. */
  names(): readonly number[];
}

export function tellDrafts(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  lanes: readonly Lane[],
): readonly Lane[] {
  const launched = launchedByProcess(profile, work);
  return lanes.map(lane => {
    const list = launched.find(({ process }) => process === lane.process);
    if (!list) return lane;
    const drafts = new Set<LaneRun>();
    const targets = new Set<LaneRun>();
    for (const alike of byFacts(lane.runs)) {
      const counted = alike.map(run => count(profile, work, families, list, run));
      const small = draftsAmong(counted);
      for (const { run } of small) drafts.add(run);
      if (small.length > 0) for (const run of alike) if (!drafts.has(run)) targets.add(run);
    }
    if (drafts.size === 0) return lane;
    const runs = lane.runs.map(run => {
      if (drafts.has(run)) return { ...run, facts: { ...run.facts, phase: 'draft' as const } };
      const checks = targets.has(run) && run.facts.phase === 'decode';
      return checks ? { ...run, facts: { ...run.facts, phase: 'speculative' as const } } : run;
    });
    return { ...lane, runs };
  });
}

/** Runs whose markers say the same; those that say nothing of requests are not compared. */
function byFacts(runs: readonly LaneRun[]): LaneRun[][] {
  const groups = new Map<string, LaneRun[]>();
  for (const run of runs) {
    const { phase, contextRequests, contextTokens, generationRequests } = run.facts;
    if (run.open || (phase !== 'decode' && phase !== 'prefill' && phase !== 'speculative')) continue;
    const key = [phase, contextRequests, contextTokens, generationRequests].join();
    const group = groups.get(key);
    if (group) group.push(run);
    else groups.set(key, [run]);
  }
  return [...groups.values()].filter(group => group.length > 1);
}

function count(
  profile: Profile,
  work: GpuWork,
  families: WorkFamilies,
  list: LaunchedWork,
  run: LaneRun,
): Counted {
  const own = list.work.subarray(lowerBound(list.at, run.start), lowerBound(list.at, run.periodEnd));
  const { family } = families;
  let gemms = 0;
  let attention = 0;
  for (let at = 0; at < own.length; at++) {
    const of = family[own[at]];
    if (of === GEMM) gemms++;
    else if (of === ATTENTION) attention++;
  }
  const names = () => {
    const name = profile.tables.kernels?.name;
    return [...own].flatMap(i => (work.kind[i] === WorkKind.kernel ? [name![work.row[i]] as number] : []));
  };
  return { run, gemms, attention, names };
}

/** Empty unless every step is clearly the one or the other. */
function draftsAmong(counted: readonly Counted[]): readonly Counted[] {
  const largest = counted.reduce((most, one) => (one.gemms > most.gemms ? one : most));
  let known: readonly number[] | undefined;
  const namesOfLargest = () => (known ??= largest.names());
  const isTarget = (one: Counted) => one.gemms >= SAME_SHARE * largest.gemms;
  const isDraft = (one: Counted) =>
    one.attention > 0 &&
    one.gemms > 0 &&
    one.gemms <= DRAFT_SHARE * largest.gemms &&
    one.attention <= DRAFT_SHARE * largest.attention &&
    // What begins like the target and stops was cut off.
    !one.names().every((name, i) => name === namesOfLargest()[i]);
  const small = counted.filter(one => !isTarget(one));
  return small.every(isDraft) ? small : [];
}
