/** The verdict on a pair with and without the perfect router, as blocks: what it means and what to do first. */

import type { Block, Fact, WaterfallBlock } from '../../analyze/block.js';
import { busyParts, causeLook, phaseLook } from '../../analyze/names-and-colors.js';
import { tableOf } from '../../analyze/table-of.js';
import type { Static } from '../../base/document.js';
import { formatDuration, formatRate, formatRelativeChange, formatShare, plural } from '../../base/units.js';
import { routerTookEffect } from '../../catalog/how-to-record.js';
import { OTHER_IDLE } from '../../catalog/palette.js';
import type {
  RouterConclusion,
  RouterEvidence,
  RouterParts,
  RouterVerdict,
  StepMeans,
} from '../experiment/router-pair.js';
import type { perfectRouterSchema } from '../experiment/router-schema.js';

export const WRONG_OUTPUTS =
  'THE OUTPUT OF THE PERFECT RUN IS WRONG: its router ignores the learned routing. Use it for measurement only; never serve with it.';

export function describeRouter(verdict: RouterVerdict): Block[] {
  return [
    { kind: 'statement', id: 'router-answer', title: 'Perfect router', lines: routerLines(verdict) },
    ...(verdict.evidence.length > 0 ? [evidenceTable(verdict)] : []),
    ...verdict.parts.map(waterfall),
    ...checksBlock(verdict),
  ];
}

export function routerLines(verdict: RouterVerdict): string[] {
  const { main, conclusion, confidence, threshold, contradiction } = verdict;
  const limit = `${Number((threshold * 100).toFixed(1))}%`;
  const gain = main ? amount(main) : '';
  const first: Readonly<Record<RouterConclusion, string>> = {
    similar: `Similar with the perfect router (${gain}): routing is not your bottleneck, look elsewhere.`,
    'small-gain': `A small gain with the perfect router (${gain}, below ${limit}): routing has a cost, but is not the bottleneck.`,
    bottleneck: `Faster with the perfect router (${gain}, more than ${limit}): routing imbalance is the bottleneck.`,
    slower: `Slower with the perfect router (${gain}): uneven routing is not the bottleneck.`,
    inconclusive: `Inconclusive (${gain}): run-to-run noise is too large to tell no gain from more than ${limit}.`,
    contradictory: `The data contradict each other (${gain}): no verdict.`,
    'not-comparable': main
      ? 'Not comparable: the two runs differ in more than the router.'
      : 'Nothing to compare: the two sides have no figure in common.',
  };
  return [
    first[conclusion],
    ...(contradiction ? [contradiction] : []),
    ...onTheGpu(verdict),
    ...meaning(verdict),
    ...(main && conclusion !== 'not-comparable'
      ? [`Confidence: ${confidence}. ${sureness(main, conclusion)}`]
      : []),
    WRONG_OUTPUTS,
  ];
}

const amount = ({ gain, interval }: RouterEvidence) =>
  interval
    ? `${formatRelativeChange(gain)} throughput, 95% confidence interval ${formatRelativeChange(interval[0])} to ${formatRelativeChange(interval[1])}`
    : `${formatRelativeChange(gain)} throughput`;

/** A step in which the GPU mostly waits for the host shows little of what routing costs. */
const HOST_BOUND = 0.5;

function onTheGpu({ parts, main, gpus }: RouterVerdict): string[] {
  const own = parts.find(({ phase }) => phase === main?.phase) ?? parts[0];
  const lines: string[] = [];
  if (own && own.hostShare > HOST_BOUND)
    lines.push(
      `In ${formatShare(own.hostShare)} of a normal ${phaseLook(own.phase).label} step the GPU waits for the host, so routing has little effect on its time. Counting only kernels, communication and device waits: ${formatRelativeChange(own.routedGain)}. Remove the host overhead first (CUDA graphs), then measure again.`,
    );
  if (gpus === 1)
    lines.push(
      'With one GPU, no GPU waits for another. Uneven routing between GPUs appears only with expert parallelism.',
    );
  return lines;
}

function meaning({ conclusion, parts, main }: RouterVerdict): string[] {
  const own = parts.find(({ phase }) => phase === main?.phase) ?? parts[0];
  switch (conclusion) {
    case 'similar':
      return [
        `What it means: spreading tokens evenly over experts gains nothing here. ${routerTookEffect}`,
        'Next: the step budget of the normal run (stepscope analyze) shows where the time goes.',
      ];
    case 'small-gain':
      return [
        'What it means: that is the maximum gain from better balancing. Address larger costs first: stepscope analyze.',
      ];
    case 'bottleneck':
      return [
        'What it means: this is the upper bound of what balancing can gain; real routing reaches part of it.',
        'Next: balance experts over GPUs (placement by load, redundant experts), or another expert-parallel size.',
      ];
    case 'slower':
      return whySlower(main!.gain, own);
    case 'inconclusive':
      return ['Next: alternate three or more runs of each; longer runs vary less.'];
    case 'contradictory':
      return own && own.gpuGain < 0.5 * (main?.gain ?? 0)
        ? [
            `Counting only kernels, communication and device waits, the gain would be ${formatRelativeChange(own.gpuGain)}.`,
          ]
        : ['Next: profile and benchmark both runs at the same load.'];
    case 'not-comparable':
      return [
        'Next: run both with the same model, dataset, load and GPUs; only ENABLE_PERFECT_ROUTER=1 may differ.',
      ];
  }
}

const repeatInTurn =
  'Next: alternate the runs (normal, perfect, normal, perfect) on an idle machine with locked clocks.';

/** Even routing makes no GPU wait longer, but it leaves no expert out: weights that nobody asked for are read too. */
function whySlower(gain: number, own: RouterParts | undefined): string[] {
  const moreExperts =
    'even routing uses every expert, so it also reads the weights of experts that had no tokens before. With few tokens per expert that costs more than balance gains';
  if (!own)
    return [
      `What it means: either ${moreExperts}; or something else changed between the runs. Profiles of both show which.`,
      repeatInTurn,
    ];
  const alone = `Counting only kernels, communication and device waits: ${formatRelativeChange(own.routedGain)}.`;
  if (own.gpuGain <= gain / 2)
    return [`What it means: the GPU itself has more work. ${alone} Likely ${moreExperts}.`];
  // Of a step that waits for the host the figure is said already.
  const said = own.hostShare > HOST_BOUND ? '' : ` ${alone}`;
  return [
    `What it means: GPU work hardly grew.${said} The host or the machine was slower in one of the two runs.`,
    repeatInTurn,
  ];
}

function sureness({ source, samples, interval }: RouterEvidence, conclusion: RouterConclusion): string {
  const [a, b] = samples;
  if (source === 'benchmark') {
    if (!interval) return 'One run per side: the difference may be noise; run each at least 3 times.';
    return Math.min(a, b) < 3
      ? 'Fewer than 3 runs on a side: the noise is a rough estimate.'
      : `From ${a} and ${b} runs.`;
  }
  const steps = `From ${plural(a, 'step')} and ${b} in one capture each`;
  if (!interval) return `${steps}: too few to estimate their variation.`;
  const more = conclusion === 'inconclusive' ? '' : ' Benchmark both, three times each, to be certain.';
  return `${steps}: run-to-run noise is not measured.${more}`;
}

function evidenceTable({ evidence }: RouterVerdict): Block {
  const right = { align: 'right' } as const;
  const value = ({ kind }: RouterEvidence, amount: number) =>
    kind === 'rate' ? formatRate(amount) : formatDuration(amount);
  const said = {
    id: 'router-evidence',
    title: 'Normal and perfect router',
    advice: 'Gain: throughput increase with the perfect router.',
  };
  return tableOf(evidence, said, [
    ['Name', 'text', ({ measure, phase }) => (phase ? `${phaseLook(phase).label} ${measure}` : measure)],
    ['Normal', 'text', item => value(item, item.normal), right],
    ['Perfect', 'text', item => value(item, item.perfect), right],
    ['Gain', 'text', ({ gain }) => formatRelativeChange(gain), right],
    [
      '95% interval',
      'text',
      ({ interval }) => (interval ? interval.map(formatRelativeChange).join(' and ') : 'unknown'),
      right,
    ],
    [
      'From',
      'text',
      ({ source, samples }) => `${samples.join(' and ')} ${source === 'profile' ? 'steps' : 'runs'}`,
    ],
  ]);
}

const partLooks: Readonly<Record<keyof StepMeans, { readonly label: string; readonly color: string }>> = {
  compute: busyParts.compute,
  communication: busyParts.communication,
  copies: busyParts.copies,
  deviceWait: { ...causeLook('device-wait'), label: 'idle: device waits' },
  otherIdle: { label: 'idle: other causes', color: OTHER_IDLE },
};

function waterfall({ phase, normalNs, perfectNs }: RouterParts): WaterfallBlock {
  const total = (means: StepMeans) => Object.values(means).reduce((sum, ns) => sum + ns, 0);
  const names = Object.keys(partLooks) as (keyof StepMeans)[];
  return {
    kind: 'waterfall',
    id: `router-parts-${phase}`,
    title: `Where a ${phaseLook(phase).label} step changed`,
    from: { label: 'normal router', ns: total(normalNs) },
    to: { label: 'perfect router', ns: total(perfectNs) },
    terms: names
      .filter(name => normalNs[name] > 0 || perfectNs[name] > 0)
      .map(name => ({
        ...partLooks[name],
        fromNs: normalNs[name],
        toNs: perfectNs[name],
        changeNs: perfectNs[name] - normalNs[name],
        fromCount: null,
        toCount: null,
      })),
  };
}

function checksBlock({ checks }: RouterVerdict): Block[] {
  if (checks.length === 0) return [];
  const facts = checks.map(({ label, status, values: [normal, perfect] }): Fact => {
    const both =
      normal === perfect
        ? (normal ?? 'missing on both sides')
        : `normal ${normal ?? 'not stated'}, perfect ${perfect ?? 'not stated'}`;
    return {
      label,
      text: `${status === 'same' ? 'ok' : status}: ${both}`,
      ...(status === 'differs'
        ? { tone: 'bad' as const }
        : status === 'same'
          ? { tone: 'quiet' as const }
          : {}),
    };
  });
  return [{ kind: 'facts', id: 'router-checks', title: 'Did only the router change?', facts }];
}

export const routerDocument = (
  files: { readonly normal: readonly string[]; readonly perfect: readonly string[] },
  verdict: RouterVerdict,
): Static<typeof perfectRouterSchema> => ({
  schema: 'stepscope-perfect-router/1',
  files,
  ...verdict,
  checks: verdict.checks.map(({ id, label, status, values: [normal, perfect] }) => ({
    ...{ id, label, status, normal, perfect },
  })),
  lines: routerLines(verdict),
});
