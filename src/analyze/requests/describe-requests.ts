/** The requests of one client in words: how sure the join is, the two sums, and the slowest requests. */
import { formatDuration, formatShare, plural } from '../../base/units.js';
import { interpolatedPercentile } from '../../stats/percentile.js';
import type { BarsBlock, Block, StatementBlock } from '../block.js';
import { tableOf } from '../table-of.js';
import type { ClientAlignment } from './align-client.js';
import type { JoinedRequest, JoinedRun } from './joined-run.js';

const SLOWEST = 5;

export function describeRequests(all: JoinedRun): Block[] {
  const name = [all.run.source.file, all.run.label].filter(Boolean).join(', ');
  const run = undisturbed(all);
  if (run.why !== undefined)
    return [statement([`${name}: cannot tell which steps ran for its requests: ${run.why}.`])];
  return [
    statement([joinedLine(name, all), clockLine(all.alignment!), ...doubts(all), ...profiledLine(all)]),
    ...bars(`Time to first token, ${name}`, 'requests-ttft', firstSums(run), 'mean', afterRemark(run)),
    ...bars(`Time per output token, ${name}`, 'requests-tpot', tokenSums(run), 'mean per token'),
    ...slowest(run, name),
  ];
}

/** Requests that met no profiler, if there are any: what a profiler costs is not what a server does. */
function undisturbed(run: JoinedRun): JoinedRun {
  const joined = run.joined.filter(({ profiled }) => !profiled);
  return joined.length > 0 ? { ...run, joined } : run;
}

function profiledLine({ joined }: JoinedRun): string[] {
  const met = joined.filter(({ profiled }) => profiled).length;
  if (met === 0) return [];
  const rest = met < joined.length ? 'are not in the sums below' : 'are all that was joined';
  return [
    `${plural(met, 'request')} ran while a profiler started, recorded or stopped. Their times include it, and they ${rest}.`,
  ];
}

const statement = (lines: readonly string[]): StatementBlock => ({
  ...{ kind: 'statement', id: 'requests', title: '', lines, quiet: true },
});

function joinedLine(name: string, { joined, requests, notCovered }: JoinedRun): string {
  const missing = notCovered > 0 ? ` ${plural(notCovered, 'request')} ran while no steps were recorded.` : '';
  return `${name}: ${plural(joined.length, 'request')} of ${requests} joined to the steps.${missing}`;
}

const within = ({ earlierNs, laterNs }: ClientAlignment) =>
  earlierNs === null || laterNs === null
    ? 'nothing in the files bounds the error'
    : `the files contradict an error of more than −${formatDuration(earlierNs)} or +${formatDuration(laterNs)}`;

function clockLine(alignment: ClientAlignment): string {
  if (alignment.by === 'monotonic') return `Client and engine used the same clock; ${within(alignment)}.`;
  if (alignment.by === 'wall')
    return `Client and engine are aligned by the time of day, which two machines may keep differently; ${within(alignment)}.`;
  return `The files share no clock. The requests fit the steps in one place only (likely, if this client was the only one); ${within(alignment)}.`;
}

function doubts({ alignment, joined }: JoinedRun): string[] {
  const { withoutPrefill, crowdedSteps, comparedSteps } = alignment!;
  const unsure = joined.filter(({ parts }) => parts.by === 'time' && parts.first).length;
  const timed = joined.filter(({ parts }) => parts.by !== 'ids').length;
  return [
    ...(timed > 0
      ? [
          `${timed === joined.length ? 'The files have' : `${plural(timed, 'request')} have`} no request ids: the join is by time. For ${plural(unsure, 'request')}, several steps may have been the prefill; prefill then includes steps of others.`,
        ]
      : []),
    ...(withoutPrefill > 0
      ? [
          `${plural(withoutPrefill, 'request')} got a first token although no prefill step ran meanwhile: another process answered, or the clocks differ. They are excluded.`,
        ]
      : []),
    ...(crowdedSteps > 0
      ? [
          `${crowdedSteps} of ${plural(comparedSteps, 'step')} hold more requests than this client had in flight: other clients were served too.`,
        ]
      : []),
  ];
}

interface Sum {
  readonly count: number;
  readonly parts: readonly (readonly [label: string, ns: number])[];
}

const meanOf = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((sum, item) => sum + of(item), 0) / items.length;

function firstSums({ joined }: JoinedRun): Sum {
  const all = joined.flatMap(({ parts }) => parts.first ?? []);
  return {
    count: all.length,
    parts: [
      ['before the engine', meanOf(all, part => part.beforeNs)],
      ['queueing', meanOf(all, part => part.queueNs)],
      ['prefill steps', meanOf(all, part => part.prefillNs)],
      ['until the client', meanOf(all, part => part.afterNs)],
    ],
  };
}

function tokenSums({ joined }: JoinedRun): Sum {
  const all = joined.flatMap(({ request: { outputTokens = 0 }, parts: { decode } }) =>
    decode && outputTokens > 1 ? [{ decode, gaps: outputTokens - 1 }] : [],
  );
  const of = (name: 'decodeNs' | 'mixedNs' | 'stallNs' | 'waitNs' | 'unexplainedNs') =>
    meanOf(all, ({ decode, gaps }) => decode[name] / gaps);
  return {
    count: all.length,
    parts: [
      ['decode steps', of('decodeNs')],
      ["mixed with others' prefill", of('mixedNs')],
      ["stalled by others' prefill", of('stallNs')],
      ['decode steps without it', of('waitNs')],
      ['unexplained', of('unexplainedNs')],
    ],
  };
}

const afterRemark = ({ joined }: JoinedRun) =>
  joined.some(({ parts }) => parts.first)
    ? 'Before the engine: client, network, tokenizer. Until the client: rest of the work on the GPU, detokenizer, network, client.'
    : undefined;

function bars(title: string, id: string, { count, parts }: Sum, what: string, remark?: string): BarsBlock[] {
  if (count === 0) return [];
  const total = parts.reduce((sum, [, ns]) => sum + ns, 0);
  const row = (label: string, ns: number, depth: 0 | 1) => ({
    ...{ label, depth, ns, share: total > 0 ? ns / total : 0 },
  });
  return [
    {
      ...{ kind: 'bars', id, title, caption: `${what} of ${plural(count, 'request')}` },
      rows: [
        row('total', total, 0),
        ...parts.filter(([, ns]) => ns > 0).map(([label, ns]) => row(label, ns, 1)),
      ],
      ...(remark === undefined ? {} : { remark }),
    },
  ];
}

/** By time to first token, and by time per token: where each of them went. */
function slowest({ joined }: JoinedRun, name: string): Block[] {
  const ttftOf = ({ request, parts }: JoinedRequest) =>
    parts.first ? request.firstNs! - request.dueNs : undefined;
  const tpotOf = ({ request: { firstNs, endNs, outputTokens = 0 }, parts }: JoinedRequest) =>
    parts.decode && outputTokens > 1 ? (endNs! - firstNs!) / (outputTokens - 1) : undefined;
  const worst = (of: (each: JoinedRequest) => number | undefined) =>
    joined
      .filter(each => of(each) !== undefined)
      .sort((a, b) => of(b)! - of(a)! || a.request.id - b.request.id)
      .slice(0, SLOWEST);
  const advice = (of: (each: JoinedRequest) => number | undefined, what: string) => {
    const sorted = Float64Array.from(joined.flatMap(each => of(each) ?? [])).sort();
    const at = (percent: number) => formatDuration(interpolatedPercentile(sorted, percent));
    return `${what}: median ${at(50)}, p90 ${at(90)}, p99 ${at(99)}, most ${at(100)}.`;
  };
  const byFirst = worst(ttftOf);
  const byToken = worst(tpotOf);
  const perToken = (ns: number, { request }: JoinedRequest) => ns / (request.outputTokens! - 1);
  return [
    ...(byFirst.length === 0
      ? []
      : [
          tableOf(
            byFirst,
            {
              id: 'requests-slowest-ttft',
              title: `Slowest to the first token, ${name}`,
              advice: advice(ttftOf, 'TTFT'),
            },
            [
              ['Request', 'id', ({ request }) => request.id],
              ['TTFT', 'ns', ttftOf],
              ['Before', 'ns', ({ parts }) => parts.first!.beforeNs],
              ['Queue', 'ns', ({ parts }) => parts.first!.queueNs],
              ['Prefill', 'ns', ({ parts }) => parts.first!.prefillNs],
              ['After', 'ns', ({ parts }) => parts.first!.afterNs],
              ['Prefill steps', 'count', ({ parts }) => parts.first!.prefillSteps],
            ],
          ),
        ]),
    ...(byToken.length === 0
      ? []
      : [
          tableOf(
            byToken,
            {
              id: 'requests-slowest-tpot',
              title: `Slowest per token, ${name}`,
              advice: advice(tpotOf, 'TPOT'),
            },
            [
              ['Request', 'id', ({ request }) => request.id],
              ['TPOT', 'ns-mean', tpotOf],
              ['Decode', 'ns-mean', each => perToken(each.parts.decode!.decodeNs, each)],
              ['Mixed', 'ns-mean', each => perToken(each.parts.decode!.mixedNs, each)],
              ['Stalled', 'ns-mean', each => perToken(each.parts.decode!.stallNs, each)],
              ['Left out', 'ns-mean', each => perToken(each.parts.decode!.waitNs, each)],
              ['Rest', 'ns-mean', each => perToken(each.parts.decode!.unexplainedNs, each)],
              ['Steps', 'count', ({ parts }) => parts.decode!.steps],
            ],
          ),
        ]),
  ];
}

/** `TTFT 62 ms (prefill steps 80.0%), TPOT 5.0 ms (decode steps 99.9%)`: each with its largest part. */
export function requestsLine(all: JoinedRun): string | undefined {
  const run = undisturbed(all);
  const of = (label: string, { count, parts }: Sum) => {
    if (count === 0) return [];
    const total = parts.reduce((sum, [, ns]) => sum + ns, 0);
    const [name, ns] = [...parts].sort((a, b) => b[1] - a[1])[0];
    return total > 0 ? [`${label} ${formatDuration(total)} (${name} ${formatShare(ns / total)})`] : [];
  };
  const said = [...of('TTFT', firstSums(run)), ...of('TPOT', tokenSums(run))];
  return said.length > 0 ? `${said.join(', ')}, mean of ${plural(run.joined.length, 'request')}` : undefined;
}
