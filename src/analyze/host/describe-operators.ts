/** The words and tables of `operators`. */
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { Block, TableBlock } from '../block.js';
import { tableOf } from '../table-of.js';
import type { Withheld } from './operator-rates.js';
import type { OperatorNode } from './operator-tree.js';
import type { NoMatch } from './replayed-operators.js';

/** A type, not an interface: it is also JSON. */
export type OperatorsSummary = {
  readonly steps: number;
  readonly operators: number;
  readonly listed: number;
  readonly gpuNs: number;
  readonly ofOperatorsNs: number;
  readonly replayNs: number;
  readonly otherNs: number;
  /** In replays whose operators come from the trace of the graph capture. */
  readonly fromCaptureNs: number;
  readonly replays: { readonly matched: number } & { readonly [Why in NoMatch]?: number };
  readonly shapesRecorded: boolean;
  readonly withheld: { readonly [Why in Withheld]?: number };
  readonly tree: readonly OperatorNode[];
};

const MOST_PATHS = 30;

export function describeOperators(table: TableBlock, summary: OperatorsSummary): Block[] {
  const lines = [coverage(summary), ...remarks(summary)];
  const shown = summary.tree.slice(0, MOST_PATHS);
  return [
    { kind: 'statement', id: 'operators-answer', title: 'Operators', lines },
    table,
    tableOf(shown, { id: 'operator-tree', title: 'Who calls whom' }, [
      ['Operator', 'text', ({ path }) => `${'  '.repeat(path.length - 1)}${path.at(-1)}`],
      ['Count', 'count', ({ count }) => count],
      ['Host', 'ns', ({ hostNs }) => hostNs],
      ['GPU', 'ns', ({ gpuNs }) => gpuNs],
      ['GPU self', 'ns', ({ gpuSelfNs }) => gpuSelfNs],
    ]),
  ];
}

function coverage({ gpuNs, ofOperatorsNs }: OperatorsSummary): string {
  if (gpuNs === 0) return 'No GPU work was recorded in the selected steps: only host time is known.';
  const share = formatShare(ofOperatorsNs / gpuNs);
  return `Operators launched ${share} of the GPU time (${formatDuration(ofOperatorsNs)} of ${formatDuration(gpuNs)}).`;
}

const reasons: Readonly<Record<NoMatch, string>> = {
  'node-count': 'no captured graph has the same number and kinds of nodes',
  'several-graphs': 'several captured graphs fit, and the batch size does not decide',
  'other-kernels': 'the kernels at the places of captured GEMMs are not GEMMs',
  'parallel-branches': 'the nodes run in parallel, and their numbers are not recorded',
};

function remarks(summary: OperatorsSummary): string[] {
  const { gpuNs, replayNs, otherNs, fromCaptureNs, shapesRecorded, withheld, replays } = summary;
  const lines: string[] = [];
  if (fromCaptureNs > 0)
    lines.push(
      `${formatShare(fromCaptureNs / gpuNs)} of it ran in ${plural(replays.matched, 'CUDA graph replay')}: their operators come from the trace of the graph capture, node by node.`,
    );
  for (const [why, text] of Object.entries(reasons)) {
    const count = replays[why as NoMatch];
    if (count && (fromCaptureNs > 0 || Object.keys(replays).length > 1))
      lines.push(`Operators of ${plural(count, 'replay')} cannot be determined: ${text}.`);
  }
  if (replayNs > 0 && replays.matched === 0 && Object.keys(replays).length === 1)
    lines.push(
      `CUDA graph replays ran ${formatShare(replayNs / gpuNs)} of it, and a replay does not record operators: also give the trace of the graph capture with --graph-capture.`,
    );
  if (otherNs > 0)
    lines.push(
      `${formatDuration(otherNs)} was launched outside of operators, or by calls that were not recorded.`,
    );
  if (!shapesRecorded) lines.push('Input shapes are not recorded: capture with record_shapes=True.');
  const { 'beyond-peak': peak = 0, 'beyond-memory': memory = 0 } = withheld;
  if (peak > 0)
    lines.push(
      `Rates of ${plural(peak, 'operator')} are withheld: they would exceed the peak of the GPU, so part of the work was not recorded or ran elsewhere.`,
    );
  if (memory > 0)
    lines.push(
      `${plural(memory, 'operator')} moved data faster than the memory of the GPU can: the data came from a cache, and the share of the speed of light cannot be determined.`,
    );
  return lines;
}
