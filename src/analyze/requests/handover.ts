/**
 * Requests that one server prefills and another decodes: followed by their ids over the steps of both, and the time
 * between them, in which the KV cache is transferred and the request waits for its first step.
 *
 *   context     [prefill a][prefill b]
 *   generation  [decode …][decode …][decode a …][decode a, b …]
 *   a                      └ hand-over ┘
 */
import { formatDuration, plural } from '../../base/units.js';
import type { NotedStep, StepLog } from '../../model/step-log.js';
import { interpolatedPercentile } from '../../stats/percentile.js';
import { type Analysis, type AnalysisResult, NotRecorded } from '../analysis.js';
import type { Block } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { stepsOf } from '../inference/steps.js';
import { rowsTable } from '../rows-table.js';
import { spansOf } from './step-spans.js';

const fields = {
  key: keyField,
  request: field.text('Request', 'hash of its id'),
  contextFile: quiet(field.text('Context', 'agent file of the server that prefills it')),
  generationFile: quiet(field.text('Generation', 'agent file of the server that decodes it')),
  prefillNs: field.ns('Prefill', 'from its first prefill step to the end of its last one'),
  prefillSteps: field.count('Steps', 'that prefill it'),
  handoverNs: field.ns('Hand-over', 'end of prefill to its first step on the other server'),
  decodeNs: field.ns('Decode', 'from that step to the end of its last one'),
  decodeSteps: field.count('Decode steps', 'on the generation server'),
  waitedSteps: field.count('Waited', 'steps of the generation server during the hand-over'),
  profiled: maybe(field.flag('Profiled', 'a profiler recorded one of these steps')),
};

type HandoverRow = RowOf<typeof fields>;

type Summary = {
  readonly requests: number;
  readonly clock: 'monotonic' | 'wall';
  readonly medianNs: number;
  readonly p90Ns: number;
  readonly maxNs: number;
};

interface HandoverResult extends AnalysisResult<HandoverRow> {
  readonly summary: Summary;
}

const SHOWN = 8;

export const handover: Analysis<HandoverRow, HandoverResult> = {
  id: 'handover',
  title: 'Hand-over from prefill to decode servers',
  question: 'How long does a request take from the server that prefills it to the one that decodes it?',
  reads: {},
  // Which agent file is of the captured process is known by what the capture recorded of it.
  uses: [stepsOf],
  fields,
  headline: {
    label: 'hand-over',
    text: ({ summary: { requests, medianNs, p90Ns } }) =>
      `${formatDuration(medianNs)} from prefill to decode server (median of ${plural(requests, 'request')}; p90 ${formatDuration(p90Ns)})`,
  },
  compute({ profile }) {
    const logs = profile.stepLogs ?? [];
    const others = logs.filter(({ isOfOtherServer }) => isOfOtherServer);
    if (others.length === 0)
      throw new NotRecorded(
        'steps of a second server of the deployment',
        'run context and generation servers with the Stepscope agent, and give both agent files',
      );
    const [own] = logs.filter(({ isOfOtherServer }) => !isOfOtherServer).sort((a, b) => a.rank - b.rank);
    if (!own)
      throw new NotRecorded(
        'steps of the captured server',
        'run it with the Stepscope agent too, and give its agent file',
      );
    const found = others.flatMap(other => [between(own, other), between(other, own)]);
    const rows = found.flatMap(pair => pair?.rows ?? []).sort((a, b) => b.handoverNs - a.handoverNs);
    if (rows.length === 0)
      throw new NotRecorded(
        'a request that both servers ran',
        'both servers must know a request by the same id, and their agent files must cover the same time',
      );
    const times = Float64Array.from(rows, ({ handoverNs }) => handoverNs).sort();
    const summary: Summary = {
      requests: rows.length,
      clock: found.every(pair => pair === undefined || pair.isMonotonic) ? 'monotonic' : 'wall',
      medianNs: interpolatedPercentile(times, 50),
      p90Ns: interpolatedPercentile(times, 90),
      maxNs: times[times.length - 1],
    };
    return { rows, summary };
  },
  describe({ rows, summary: { requests, clock, medianNs, p90Ns, maxNs } }): Block[] {
    const lines = [
      `${plural(requests, 'request')} were prefilled by one server and decoded by another. The hand-over takes ${formatDuration(medianNs)} (median; p90 ${formatDuration(p90Ns)}, at most ${formatDuration(maxNs)}): the transfer of the KV cache, and the wait for the next step.`,
      clock === 'monotonic'
        ? 'Both servers ran on one machine and share its clock.'
        : 'The servers are aligned by the time of day, which two machines may keep differently: the hand-over is off by that difference.',
    ];
    return [
      { kind: 'statement', id: 'handover', title: 'Hand-over', lines, quiet: true },
      rowsTable(handover, rows.slice(0, SHOWN)),
    ];
  },
};

/** What `other` shows less than `own` at the same moment; by the clock of the machine where it is one. */
function clockOf(own: StepLog, other: StepLog): { shiftNs: number; isMonotonic: boolean } {
  const isMonotonic =
    own.machine !== undefined &&
    own.machine === other.machine &&
    own.originMonotonicNs !== undefined &&
    other.originMonotonicNs !== undefined;
  const shift = isMonotonic
    ? other.originMonotonicNs! - own.originMonotonicNs!
    : other.originNs - own.originNs;
  return { shiftNs: Number(shift), isMonotonic };
}

interface Followed {
  startNs: number;
  endNs: number;
  steps: number;
  profiled: boolean;
}

function between(
  context: StepLog,
  generation: StepLog,
): { rows: HandoverRow[]; isMonotonic: boolean } | undefined {
  const { shiftNs, isMonotonic } = clockOf(context, generation);
  const prefilled = follow(context, 0, step => step.contextIds ?? []);
  // With the KV cache of another server, the first step may count as prefill of the last token.
  const decoded = follow(generation, shiftNs, step => [
    ...(step.generationIds ?? []),
    ...(step.contextIds ?? []),
  ]);
  const startsNs = generation.steps.map(({ startNs }) => startNs + shiftNs);
  const rows = [...prefilled].flatMap(([request, prefill]): HandoverRow[] => {
    const decode = decoded.get(request);
    // A server that decodes what it prefilled hands nothing over.
    if (!decode || decode.startNs < prefill.endNs) return [];
    return [
      {
        key: `request:${request}`,
        request,
        contextFile: context.file,
        generationFile: generation.file,
        prefillNs: prefill.endNs - prefill.startNs,
        prefillSteps: prefill.steps,
        handoverNs: decode.startNs - prefill.endNs,
        decodeNs: decode.endNs - decode.startNs,
        decodeSteps: decode.steps,
        waitedSteps: startsNs.filter(ns => ns >= prefill.endNs && ns < decode.startNs).length,
        profiled: prefill.profiled || decode.profiled,
      },
    ];
  });
  return rows.length === 0 ? undefined : { rows, isMonotonic };
}

function follow(log: StepLog, shiftNs: number, idsOf: (step: NotedStep) => readonly string[]) {
  const found = new Map<string, Followed>();
  for (const { step, startNs, endNs } of spansOf(log))
    for (const id of new Set(idsOf(step))) {
      const known = found.get(id) ?? { startNs: startNs + shiftNs, endNs: 0, steps: 0, profiled: false };
      known.endNs = endNs + shiftNs;
      known.steps++;
      known.profiled ||= step.profiled === true;
      found.set(id, known);
    }
  return found;
}
