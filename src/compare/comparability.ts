/**
 * What must be alike for a comparison to mean something: each point same, different or unknown, and what follows.
 * `note`: worth knowing, often the very change under test. `downgrade`: figures are shown with a reservation.
 */
import { formatCount, formatShare } from '../base/units.js';
import { profilers } from '../catalog/profilers.js';
import type { Configuration, PhasePair } from './pair-phases.js';
import type { RunTraits } from './run-facts.js';

type CheckStatus = 'same' | 'differs' | 'unknown';
type CheckEffect = 'none' | 'note' | 'downgrade';

export interface Check {
  readonly id: string;
  readonly label: string;
  readonly from: string;
  readonly to: string;
  readonly status: CheckStatus;
  readonly effect: CheckEffect;
  /** What it means for the figures; empty where it is the same. */
  readonly why: string;
}

/** GPU clocks vary this much by themselves. */
const SAME_CLOCK = 0.02;
const SAME_TOKENS = 0.05;
const SAME_SHARE = 0.1;
const FEW_STEPS = 10;

export function checkComparability(
  from: Configuration,
  to: Configuration,
  pairs: readonly PhasePair[],
  tokens: { readonly from: number; readonly to: number },
): Check[] {
  const [ours, theirs] = [from.runs[0].traits, to.runs[0].traits];
  const checks: Check[] = [];
  const check = (
    id: string,
    label: string,
    texts: readonly [string | undefined, string | undefined],
    effect: CheckEffect,
    why: string,
    isSame = texts[0] === texts[1],
  ) => {
    const known = texts[0] !== undefined && texts[1] !== undefined;
    const status = !known ? 'unknown' : isSame ? 'same' : 'differs';
    const [a, b] = texts.map(text => text ?? 'not recorded');
    const differs = status === 'differs';
    checks.push({
      ...{ id, label, from: a, to: b, status },
      effect: differs ? effect : 'none',
      why: differs ? why : '',
    });
  };
  /** A text of each side, of all its runs where they differ; undefined where a run does not tell. */
  const of = (read: (traits: RunTraits) => string | undefined) => {
    const side = ({ runs }: Configuration) => {
      const texts = runs.map(run => read(run.traits) || undefined);
      return texts.includes(undefined) ? undefined : [...new Set(texts)].sort().join(' and ');
    };
    return [side(from), side(to)] as const;
  };
  const far = (a: number | undefined, b: number | undefined, reach: number) =>
    a !== undefined && b !== undefined && Math.abs(a - b) > reach * Math.max(a, b);

  const broken = (side: Configuration) => (isBroken(side) ? 'cut off or damaged' : 'whole');
  const files = [broken(from), broken(to)] as const;
  check(
    'files',
    'files',
    files,
    'downgrade',
    'its figures are of what is left of it',
    files.every(text => text === 'whole'),
  );
  check(
    'gpu',
    'GPU',
    of(({ gpus }) => gpuText(gpus)),
    'downgrade',
    'kernel times are those of other hardware',
  );
  check(
    'clock',
    'GPU clock',
    of(({ clockHz }) => (clockHz === undefined ? undefined : `${(clockHz / 1e9).toFixed(2)} GHz`)),
    'downgrade',
    'a higher clock makes every kernel faster',
    !far(ours.clockHz, theirs.clockHz, SAME_CLOCK),
  );
  check(
    'driver',
    'driver',
    of(({ versions }) => versions.driver),
    'note',
    'launches may cost more or less',
  );
  check(
    'cuda',
    'CUDA',
    of(({ versions }) => cudaText(versions)),
    'note',
    'libraries may choose other kernels',
  );
  check(
    'model',
    'layers',
    of(({ layers }) => (layers === undefined ? undefined : String(layers))),
    'downgrade',
    'these are not the same model, or its layers were found differently',
  );
  check(
    'precision',
    'GEMM types',
    of(({ gemmTypes }) => typesText(gemmTypes)),
    'note',
    'the precision of the matrix products is not the same',
    sameTypes(ours.gemmTypes, theirs.gemmTypes),
  );
  checks.push(mixCheck(pairs));
  if (tokens.from > 0 && tokens.to > 0)
    check(
      'tokens',
      'tokens per step',
      [formatCount(Math.round(tokens.from)), formatCount(Math.round(tokens.to))],
      'note',
      'the steps did not have the same to do',
      !far(tokens.from, tokens.to, SAME_TOKENS),
    );
  checks.push(stepsCheck(ours, theirs));
  check(
    'found',
    'steps found by',
    of(({ foundBy }) => (foundBy ?? 'not found: whole trace').replace('-', ' ')),
    'downgrade',
    'a step does not begin and end at the same point on both sides',
  );
  check(
    'graphs',
    'CUDA graphs',
    of(({ graphMode }) => graphWords[graphMode]),
    (ours.graphMode === 'blocks') !== (theirs.graphMode === 'blocks') ? 'downgrade' : 'note',
    (ours.graphMode === 'blocks') !== (theirs.graphMode === 'blocks')
      ? 'kernels and idle inside replays were recorded on one side only: capture with --cuda-graph-trace=node'
      : 'one side replays graphs',
  );
  check(
    'profiler',
    'profiler',
    of(profilerText),
    'note',
    ours.profiler === theirs.profiler
      ? 'another version of the profiler'
      : 'the two cost the host different times: time on the GPU can be compared, host time only roughly',
  );
  if (ours.profiler === theirs.profiler)
    check(
      'flags',
      'profiler flags',
      of(({ settings }) => flagsText(settings, otherFlags(ours, theirs))),
      'note',
      'what is traced costs time',
    );
  return checks;
}

export const isBroken = ({ runs }: Configuration): boolean =>
  runs.some(run => run.traits.broken !== undefined);

/** Steps one by one, or why they cannot be. */
function mixCheck(pairs: readonly PhasePair[]): Check {
  const differ = pairs.filter(({ mixesDiffer }) => mixesDiffer);
  const words = (side: 'from' | 'to') =>
    [
      ...new Set(
        pairs.flatMap(pair => [
          ...pair.mixes.map(({ mix }) => mix),
          ...(side === 'from' ? pair.onlyFrom : pair.onlyTo),
        ]),
      ),
    ].filter(mix => mix !== '');
  const [from, to] = [words('from'), words('to')];
  const common = { id: 'batch', label: 'batch', from: mixText(from), to: mixText(to) };
  if (from.length === 0 && to.length === 0) return { ...common, status: 'unknown', effect: 'none', why: '' };
  if (differ.length > 0) {
    const why = 'the steps did not have the same to do: all of a phase are compared, whatever their batch';
    return { ...common, status: 'differs', effect: 'downgrade', why };
  }
  const left = pairs.some(({ onlyFrom, onlyTo }) => onlyFrom.length > 0 || onlyTo.length > 0);
  if (!left) return { ...common, status: 'same', effect: 'none', why: '' };
  const why = 'only batches that both sides have are compared';
  return { ...common, status: 'differs', effect: 'note', why };
}

function stepsCheck(ours: RunTraits, theirs: RunTraits): Check {
  const few = Math.min(ours.selectedSteps, theirs.selectedSteps) < FEW_STEPS;
  const why = few ? `fewer than ${FEW_STEPS} steps: rare stalls weigh much` : '';
  return {
    id: 'steps',
    label: 'steps',
    from: `${formatCount(ours.selectedSteps)} of ${formatCount(ours.steps)}`,
    to: `${formatCount(theirs.selectedSteps)} of ${formatCount(theirs.steps)}`,
    status: ours.selectedSteps === theirs.selectedSteps ? 'same' : 'differs',
    effect: few && ours.steps > 0 && theirs.steps > 0 ? 'note' : 'none',
    why,
  };
}

const LISTED_MIXES = 3;

const mixText = (mixes: readonly string[]): string =>
  mixes.length === 0
    ? 'not recorded'
    : `${mixes.slice(0, LISTED_MIXES).join('; ')}${mixes.length > LISTED_MIXES ? `; ${mixes.length - LISTED_MIXES} more` : ''}`;

const graphWords = { none: 'none', nodes: 'node by node', blocks: 'as blocks' } as const;

function gpuText(gpus: readonly string[]): string {
  const names = [...new Set(gpus.filter(name => name !== ''))];
  return `${gpus.length > 1 ? `${gpus.length} × ` : ''}${names.join(', ')}`;
}

/** `13000` and `13.0` are one version. */
function cudaText(versions: Readonly<Record<string, string>>): string | undefined {
  const text = versions['CUDA driver'] ?? versions.cuda_driver;
  const code = /^(\d{1,3})0(\d)0$/.exec(text ?? '');
  return code ? `${code[1]}.${code[2]}` : text;
}

const profilerText = ({ profiler, profilerVersion }: RunTraits): string =>
  `${profilers[profiler].label} ${profilerVersion}`.trim();

/** What was recorded and how, less what only says when. */
const ABOUT_TIME = /DURATION|DELAY|TRIGGER|FLUSH|START|STOP|INCLUDE_CHILDREN/;

const otherFlags = ({ settings: a }: RunTraits, { settings: b }: RunTraits): string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter(name => !ABOUT_TIME.test(name) && a[name] !== b[name])
    .sort();

const flagsText = (
  settings: Readonly<Record<string, string>>,
  names: readonly string[],
): string | undefined =>
  Object.keys(settings).length === 0
    ? undefined
    : names.map(name => `${name}=${settings[name] ?? ''}`).join(' ') || 'the same';

const typesText = (types: Readonly<Record<string, number>>): string =>
  Object.entries(types)
    .filter(([, share]) => share >= 0.01)
    .map(([type, share]) => (share > 0.99 ? type : `${type} ${formatShare(share)}`))
    .join(', ');

function sameTypes(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): boolean {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(
    type => Math.abs((a[type] ?? 0) - (b[type] ?? 0)) <= SAME_SHARE,
  );
}
