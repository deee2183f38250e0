/** What the kernels of the typical step, one after the other, could do without: chains, attention in parts, copies, sorting. */
import { formatCount, formatDuration, formatShare } from '../../base/units.js';
import type { PhaseBudget } from '../inference/budget-totals.js';
import { type SequenceRow, stepSequence } from '../inference/step-sequence.js';
import { perStep } from '../words.js';
import { costing, finding, perWindow, type Rule, type RuleInput } from './rule.js';

interface TypicalStep {
  readonly rows: readonly SequenceRow[];
  readonly total: PhaseBudget;
  readonly iteration: number;
  readonly busyNs: number;
}

function typicalStep(input: RuleInput): TypicalStep | undefined {
  const { rows, summary } = input.use(stepSequence);
  const total = input.phases.find(({ phase }) => phase === summary?.phase);
  if (!total || !summary) return undefined;
  return {
    rows,
    total,
    iteration: Number(summary.iteration),
    busyNs: perWindow(total, total.wallNs - total.idleNs),
  };
}

const sumNs = (rows: readonly SequenceRow[]): number => rows.reduce((sum, row) => sum + row.durationNs, 0);

const isElementwise = ({ family }: SequenceRow): boolean =>
  family === 'elementwise' || family === 'activation';

/** `torch.cat`: both of PyTorch's kernels for it. */
const isConcatenation = ({ name }: SequenceRow): boolean => /CatArray/.test(name);

/** Concatenations, where they are worth a finding of their own. */
function concatenations(input: RuleInput, { rows, busyNs }: TypicalStep): readonly SequenceRow[] {
  const own = rows.filter(isConcatenation);
  return sumNs(own) >= input.policy.concatenationShare * busyNs ? own : [];
}

/**
 * Attention in parts: a GEMM, then scale, mask, softmax and casts one by one over all scores, then a GEMM. Routers take
 * a softmax too, and choose experts behind it.
 */
function attentionInParts(
  input: RuleInput,
  { rows, busyNs }: TypicalStep,
): readonly (readonly SequenceRow[])[] {
  const spans: SequenceRow[][] = [];
  let span: SequenceRow[] | undefined;
  for (const row of rows) {
    if (row.family === 'gemm') {
      if (span?.some(isSoftmax)) spans.push(span);
      span = [];
    } else if (isElementwise(row) || isSoftmax(row)) span?.push(row);
    else if (row.family !== 'memset' && row.family !== 'copy') span = undefined;
  }
  return sumNs(spans.flat()) >= input.policy.unfusedAttentionShare * busyNs ? spans : [];
}

const isSoftmax = ({ name }: SequenceRow): boolean => /softmax/i.test(name);

const unfusedAttention: Rule = {
  id: 'unfused-attention',
  about: 'attention that writes its scores to memory, kernel by kernel',
  uses: [stepSequence],
  look(input) {
    const step = typicalStep(input);
    const spans = step ? attentionInParts(input, step) : [];
    if (!step || spans.length === 0) return [];
    const { total, iteration, busyNs } = step;
    const between = spans.flat();
    const ns = sumNs(between);
    return [
      finding('unfused-attention', input, {
        claim: `Attention is not fused: its scores go through memory for ${formatDuration(ns)} ${perStep(total.phase)}`,
        ...costing(total, ns, 'if one kernel does what lies between the two GEMMs of attention'),
        confidence: 'likely',
        evidence: [
          {
            text: `${formatShare(ns / busyNs)} of GPU work in iteration ${iteration}: ${formatCount(between.length)} kernels around ${formatCount(spans.length)} softmax calls, between the GEMMs of attention`,
            numerator: ns,
            denominator: busyNs,
            unit: 'ns',
            analysis: 'step-sequence',
          },
        ],
        confirm: 'stepscope steps FILE --sequence',
      }),
    ];
  },
};

const concatenated: Rule = {
  id: 'concatenation',
  about: 'tensors that grow by being copied',
  uses: [stepSequence],
  look(input) {
    const step = typicalStep(input);
    const own = step ? concatenations(input, step) : [];
    if (!step || own.length === 0) return [];
    const { total, iteration, busyNs } = step;
    const ns = sumNs(own);
    return [
      finding('concatenation', input, {
        claim: `Concatenation copies tensors for ${formatDuration(ns)} ${perStep(total.phase)}`,
        ...costing(
          total,
          ns,
          'if new parts are written in place, which costs next to nothing: an upper bound',
        ),
        confidence: 'likely',
        evidence: [
          {
            text: `${formatShare(ns / busyNs)} of GPU work in iteration ${iteration}, in ${formatCount(own.length)} kernels of torch.cat`,
            numerator: ns,
            denominator: busyNs,
            unit: 'ns',
            analysis: 'step-sequence',
          },
        ],
        confirm: 'stepscope steps FILE --sequence',
      }),
    ];
  },
};

/** Kernels that choose tokens: behind the layers, where routers choose experts inside them. */
const isSampling = ({ family, layer }: SequenceRow): boolean =>
  layer === null && (family === 'sampling' || family === 'sort-and-index');

const costlySampling: Rule = {
  id: 'costly-sampling',
  about: 'sampling that takes a good part of the step on the GPU',
  uses: [stepSequence],
  look(input) {
    const step = typicalStep(input);
    // Without layers nobody knows what is behind them.
    if (!step?.rows.some(({ layer }) => layer !== null)) return [];
    const { rows, total, iteration } = step;
    const own = rows.filter(isSampling);
    const ns = sumNs(own);
    const wallNs = perWindow(total, total.wallNs);
    if (ns < input.policy.samplingShare * wallNs) return [];
    const longest = own.reduce((most, row) => (row.durationNs > most.durationNs ? row : most));
    return [
      finding('costly-sampling', input, {
        claim: `Sampling takes ${formatDuration(ns)} ${perStep(total.phase)} on the GPU`,
        ...costing(total, ns, 'if sampling took no time: an upper bound'),
        confidence: 'possible',
        evidence: [
          {
            text: `${formatCount(own.length)} kernels outside the layers that sample, sort and index in iteration ${iteration}; the longest, ${longest.kernel}, takes ${formatDuration(longest.durationNs)}`,
            numerator: ns,
            denominator: wallNs,
            unit: 'ns',
            analysis: 'step-sequence',
          },
        ],
        confirm: 'stepscope steps FILE --sequence',
      }),
    ];
  },
};

/** Between two kernels of a chain data goes to memory and back; fused, only the longest of them is left. */
const unfusedElementwise: Rule = {
  id: 'unfused-elementwise',
  about: 'chains of elementwise kernels that could be fused',
  uses: [stepSequence],
  look(input) {
    const step = typicalStep(input);
    if (!step) return [];
    const { rows, total, iteration, busyNs } = step;
    // What others explain, with more to gain, is none of it.
    const others = new Set([...attentionInParts(input, step).flat(), ...concatenations(input, step)]);
    let chains = 0;
    let kernels = 0;
    let savedNs = 0;
    let chain: SequenceRow[] = [];
    const close = () => {
      if (chain.length >= 2) {
        chains++;
        kernels += chain.length;
        savedNs += sumNs(chain) - Math.max(...chain.map(({ durationNs }) => durationNs));
      }
      chain = [];
    };
    for (const row of rows) {
      if (isElementwise(row) && !others.has(row)) chain.push(row);
      else close();
    }
    close();
    if (savedNs < input.policy.elementwiseShare * busyNs) return [];
    return [
      finding('unfused-elementwise', input, {
        claim: `${formatCount(kernels)} elementwise kernels in ${formatCount(chains)} ${chains === 1 ? 'chain' : 'chains'} could be fused into ${formatCount(chains)}`,
        ...costing(
          total,
          savedNs,
          'if each chain becomes one kernel as long as its longest; saved launches are counted elsewhere',
        ),
        confidence: 'likely',
        evidence: [
          {
            text: `${formatDuration(savedNs)} of ${formatDuration(busyNs)} GPU work in iteration ${iteration} goes to reading and writing intermediate results`,
            numerator: savedNs,
            denominator: busyNs,
            unit: 'ns',
            analysis: 'step-sequence',
          },
        ],
        confirm: 'stepscope steps FILE --sequence',
      }),
    ];
  },
};

export const stepKernelRules: readonly Rule[] = [
  unfusedAttention,
  concatenated,
  costlySampling,
  unfusedElementwise,
];
