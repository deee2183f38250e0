/** What speaks against comparing two configurations: what runs are asked everywhere, and how their steps were paired. */
import { formatCount } from '../base/units.js';
import type { PhasePair } from '../run/pair-phases.js';
import type { Configuration } from '../run/run.js';
import { type Sameness, samenessOf } from '../run/sameness.js';
import type { SideMeans } from '../run/side-means.js';
import { sameValue } from '../run/trait.js';
import { launchSizesCheck } from './launch-sizes.js';

const SAME_TOKENS = 0.05;

export function checkComparability(
  from: Configuration,
  to: Configuration,
  pairs: readonly PhasePair[],
  /** Means of the phase that is compared first. */
  means: { readonly from: SideMeans; readonly to: SideMeans },
): Sameness[] {
  const phases = pairs.flatMap(({ phase }) => phase ?? []);
  const tokens = {
    from: means.from.contextTokens + means.from.kvTokens,
    to: means.to.contextTokens + means.to.kvTokens,
  };
  const known = samenessOf('compare', [from.runs, to.runs], phases);
  // Over more GPUs each has less to do, and another GPU is given other grids.
  const isSameHardware = known.every(({ id, status }) => !/^gpus?$/.test(id) || status !== 'differs');
  const areCounted = tokens.from > 0 && tokens.to > 0;
  return [
    ...known,
    ...mixesCheck(pairs),
    ...(areCounted ? [tokensCheck(tokens)] : isSameHardware ? launchSizesCheck(means.from, means.to) : []),
  ];
}

/** Why the steps of both sides are other work, so that their times do not say which is faster. */
const ABOUT_WORK: Readonly<Partial<Record<string, (values: Sameness['values']) => string>>> = {
  layers: ([a, b]) => `the number of layers differs (${a} vs ${b})`,
  mixes: ([a, b]) => `the batch differs (${a} vs ${b})`,
  launchSizes: ([, b]) => `kernels launch ${b} the thread blocks (another batch, sequence length or model)`,
};

interface OtherWork {
  readonly ids: readonly string[];
  readonly reasons: readonly string[];
  /** Only layers differ, and those were found by how kernels repeat. */
  readonly isGuess: boolean;
}

/** Undefined where both did the same work, as far as they say. */
export function otherWork({
  checks,
  from,
  to,
}: {
  readonly checks: readonly Sameness[];
  readonly from: Configuration;
  readonly to: Configuration;
}): OtherWork | undefined {
  const found = checks.filter(
    check =>
      ABOUT_WORK[check.id] !== undefined &&
      effectOf(check) === 'weakens' &&
      check.values.every(value => value !== null && value !== NOT_RECORDED),
  );
  if (found.length === 0) return undefined;
  const areGuessed = [...from.runs, ...to.runs].some(({ facts }) => facts.model?.guessed);
  return {
    ids: found.map(({ id }) => id),
    reasons: found.map(({ id, values }) => ABOUT_WORK[id]!(values)),
    isGuess: areGuessed && found.every(({ id }) => id === 'layers'),
  };
}

const NOT_RECORDED = 'not recorded';

export const isBroken = ({ runs }: Configuration): boolean =>
  runs.some(run => run.profile.capture.broken !== null);

/** What a difference means for the figures; nothing where there is none. Profiles can always be compared. */
export const effectOf = ({ status, effect }: Sameness): Exclude<Sameness['effect'], 'prevents'> | 'none' =>
  status !== 'differs' ? 'none' : effect === 'explains' ? 'explains' : 'weakens';

/** Steps are compared mix by mix: those of one side alone are left out, unless hardly any is shared. */
function mixesCheck(pairs: readonly PhasePair[]): Sameness[] {
  const hardly = pairs.some(({ mixesDiffer }) => mixesDiffer);
  if (!hardly && pairs.every(({ onlyFrom, onlyTo }) => onlyFrom.length + onlyTo.length === 0)) return [];
  const mixes = (side: 'onlyFrom' | 'onlyTo') =>
    pairs.flatMap(pair => [...pair.mixes.map(({ mix }) => mix), ...pair[side]]).filter(mix => mix !== '');
  const lists = [listText(mixes('onlyFrom')), listText(mixes('onlyTo'))];
  return [
    {
      id: 'mixes',
      label: 'batch mixes',
      status: 'differs',
      effect: hardly ? 'weakens' : 'explains',
      values: lists.map(list => list ?? NOT_RECORDED),
      why: hardly
        ? `the ${lists.includes(null) ? 'batch may differ' : 'steps processed different batches'}: all steps of a phase are compared, regardless of batch`
        : 'only batches present on both sides are compared',
    },
  ];
}

const tokensCheck = ({ from, to }: { readonly from: number; readonly to: number }): Sameness => ({
  id: 'tokens',
  label: 'tokens per step',
  status: sameValue(from, to, SAME_TOKENS) ? 'same' : 'differs',
  effect: 'explains',
  values: [from, to].map(count => formatCount(Math.round(count))),
  why: 'the steps processed different amounts of work',
});

const LISTED_MIXES = 3;

function listText(mixes: readonly string[]): string | null {
  const known = [...new Set(mixes)];
  const more = known.length > LISTED_MIXES ? `; ${known.length - LISTED_MIXES} more` : '';
  return known.length === 0 ? null : `${known.slice(0, LISTED_MIXES).join('; ')}${more}`;
}
