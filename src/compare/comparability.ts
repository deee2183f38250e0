/** What speaks against comparing two configurations: what runs are asked everywhere, and how their steps were paired. */
import { formatCount } from '../base/units.js';
import type { PhasePair } from '../run/pair-phases.js';
import type { Configuration } from '../run/run.js';
import { type Sameness, samenessOf } from '../run/sameness.js';
import { sameValue } from '../run/trait.js';

const SAME_TOKENS = 0.05;

export function checkComparability(
  from: Configuration,
  to: Configuration,
  pairs: readonly PhasePair[],
  tokens: { readonly from: number; readonly to: number },
): Sameness[] {
  const phases = pairs.flatMap(({ phase }) => phase ?? []);
  return [
    ...samenessOf('compare', [from.runs, to.runs], phases),
    ...mixesCheck(pairs),
    ...(tokens.from > 0 && tokens.to > 0 ? [tokensCheck(tokens)] : []),
  ];
}

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
      values: lists.map(list => list ?? 'not recorded'),
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
