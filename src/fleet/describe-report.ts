/** A report of a lake in words and tables. */
import { type Block, KEEP, type TableBlock, type WaterfallBlock } from '../analyze/block.js';
import { phaseLook } from '../analyze/names-and-colors.js';
import { tableOf } from '../analyze/table-of.js';
import { capitalized, formatDuration, formatRelativeChange, formatShare, plural } from '../base/units.js';
import { shellQuote } from '../capture/shell-quote.js';
import { LEAST_RUNS } from '../gate/change-points.js';
import type { FleetReport, History, LevelChange, RankRow, RunSummary, UnitMeans } from './fleet-report.js';
import { heatOfRun, type RunHeat } from './run-heat.js';

/** From here on a rank above the median is worth naming; below, ranks of every run differ. */
const WORTH_NAMING = 0.02;

export function describeReport(report: FleetReport, heat: RunHeat | undefined): Block[] {
  return [
    { kind: 'statement', id: 'answer', title: 'Answer', lines: answerLines(report) },
    ...lakeBlocks(report),
    ...changeBlocks(report),
    ...(report.ranks.length > 0 ? [rankTable(report.ranks)] : []),
    ...(heat ? [heatOfRun(heat)] : []),
    ...(report.nodes.length > 1 ? [nodeTable(report)] : []),
    ...(report.configurations.length > 1 ? [configurationTable(report)] : []),
    runTable(report.runs),
    ...(report.findings.length > 0 ? [findingTable(report)] : []),
    ...downBlocks(report),
  ];
}

/** `rank 3`, `rank 0 GPU 2` where a rank drives several. */
const unitName = ({ rank, device }: Pick<RankRow, 'rank' | 'device'>, several = false): string =>
  rank === null ? `GPU ${device}` : several ? `rank ${rank} GPU ${device}` : `rank ${rank}`;

function answerLines(report: FleetReport): string[] {
  const { runs, ranks, histories } = report;
  if (runs.length === 0) return ['The lake has no run with steps.'];
  const { changes, others } = historyLines(histories);
  const lines = [...changes];
  const persistent = ranks.filter(rank => rank.persistent && rank.aboveMedianShare >= WORTH_NAMING);
  const byName = new Map<string, RankRow[]>();
  for (const rank of persistent)
    byName.set(nameOnNode(rank), [...(byName.get(nameOnNode(rank)) ?? []), rank]);
  const repeated = [...byName.values()].sort((a, b) => b.length - a.length);
  for (const own of repeated.slice(0, 3))
    lines.push(own.length > 1 ? repeatedSentence(own) : slowSentence(own[0]));
  if (repeated.length > 3)
    lines.push(`${repeated.length - 3} more ranks are the slowest of their run most of the time.`);
  // Without a change or a slow rank, the first sentence is what the lake holds.
  if (lines.length === 0) lines.push(...overview(report));
  lines.push(...others);
  if (persistent.length === 0 && ranks.length > 0) lines.push(noStraggler(ranks));
  const [node] = report.nodes;
  if (node && node.sharedRuns > 1 && node.slowestInRuns > node.sharedRuns / 2)
    lines.push(
      `Node ${node.host} has the slowest rank in ${node.slowestInRuns} of the ${node.sharedRuns} runs that it shares with other nodes.`,
    );
  return [...lines, ...tooFewLines(histories)];
}

/** `16 runs of 11 configurations: 3.29 ms to 229 ms per decode step.` and what costs most in them */
function overview({ runs, configurations, findings }: FleetReport): string[] {
  const phases = new Set(runs.map(({ phase }) => phase));
  const step = phases.size === 1 ? `${phaseLook([...phases][0]).label} step` : 'step';
  const walls = runs.map(({ wallNs }) => wallNs);
  const [least, most] = [Math.min(...walls), Math.max(...walls)].map(formatDuration);
  const range = least === most ? least : `${least} to ${most}`;
  const kinds = new Set(configurations.map(({ configuration }) => configuration)).size;
  const [worst] = findings;
  const costly =
    worst && worst.costNs !== null
      ? [
          `Costliest over all runs: ${worst.rule}, ${formatDuration(worst.costNs)} per step in ${plural(worst.runs, 'run')} (${worst.claim}).`,
        ]
      : [];
  return [
    `${plural(runs.length, 'run')}${kinds > 0 ? ` of ${plural(kinds, 'configuration')}` : ''}: ${range} per ${step}.`,
    ...costly,
  ];
}

const nameOnNode = (rank: RankRow) => `${unitName(rank)}${rank.host === null ? '' : ` on ${rank.host}`}`;

/** Rows come from the largest excess to the smallest. */
function repeatedSentence(ranks: readonly RankRow[]): string {
  const [most, least] = [ranks[0], ranks.at(-1)!];
  const shares = [least, most].map(({ aboveMedianShare }) => formatShare(aboveMedianShare));
  return `${capitalized(nameOnNode(most))} is the slowest most of the time in ${plural(ranks.length, 'run')}: apart from communication it needs ${shares.join(' to ')} more than the median rank, at most ${formatDuration(most.aboveMedianNs)} per step (run ${most.run}).`;
}

function slowSentence(rank: RankRow): string {
  const mostly = rank.mostly === null ? '' : `, mostly ${rank.mostly}`;
  return `Run ${rank.run}: ${nameOnNode(rank)} needs ${formatDuration(rank.aboveMedianNs)} per ${phaseLook(rank.phase).label} step (${formatRelativeChange(rank.aboveMedianShare)}) more than the median rank, apart from communication${mostly}. It is the slowest in ${formatShare(rank.slowestShare!)} of the steps.`;
}

function noStraggler(ranks: readonly RankRow[]): string {
  const [most] = ranks;
  const compared = ranks.filter(({ slowestShare }) => slowestShare !== null).length;
  const furthest = `the furthest above the median of its run is ${unitName(most)} of ${most.run} (${formatRelativeChange(most.aboveMedianShare)}).`;
  return compared === 0
    ? `Ranks cannot be compared step by step, because nothing shows which of their steps are the same; ${furthest}`
    : `No rank is the slowest of its run most of the time; ${furthest}`;
}

/** What changed comes first, what did not last. */
function historyLines(histories: readonly History[]): { changes: string[]; others: string[] } {
  const judged = histories.filter(({ tooFew }) => !tooFew);
  const same = judged.filter(({ changes }) => changes.length === 0);
  const others = [
    ...same.map(
      ({ configuration, phase, runs }) =>
        `${configuration}, ${phaseLook(phase).label}: no change of the mean step over ${plural(runs.length, 'run')}.`,
    ),
    ...(judged.some(({ untimed }) => untimed)
      ? ['Some runs do not state when they were recorded: they come first, ordered by name.']
      : []),
  ];
  return { changes: judged.flatMap(({ changes }) => changes.flatMap(changeLines)), others };
}

function tooFewLines(histories: readonly History[]): string[] {
  const few = histories.filter(({ tooFew }) => tooFew).length;
  return few > 0
    ? [
        `Too few runs to detect a change in ${plural(few, 'configuration')}: at least ${LEAST_RUNS} are needed.`,
      ]
    : [];
}

function changeLines(change: LevelChange): string[] {
  const { configuration, phase, lastBefore, firstAfter, point, terms, load } = change;
  const word = point.to > point.from ? 'slower' : 'faster';
  const [largest] = terms.terms;
  const mostly = largest ? `, mostly ${largest.look.label} (${signed(largest.toNs - largest.fromNs)})` : '';
  return [
    `${capitalized(phaseLook(phase).label)} steps are ${formatShare(Math.abs(point.changeShare))} ${word} since run ${firstAfter}${mostly}.`,
    `${configuration}: ${formatDuration(point.from)} → ${formatDuration(point.to)} per step, medians of the runs up to ${lastBefore} and from ${firstAfter} on (p = ${point.p.toFixed(4)}).${load.map(loadSentence).join('')}`,
  ];
}

const loadSentence = ({ what, from, to }: LevelChange['load'][number]): string =>
  ` The load changed too: ${from.toFixed(1)} → ${to.toFixed(1)} ${what === 'requests' ? 'decoding requests' : 'prompt tokens'} per step.`;

const signed = (ns: number): string => `${ns < 0 ? '−' : '+'}${formatDuration(Math.abs(ns))}`;

function lakeBlocks({ data, runs, problems }: FleetReport): Block[] {
  const { counted, leftOut } = data.files;
  const nodes = new Set(counted.flatMap(({ host }) => host ?? []));
  const blocks: Block[] = [
    {
      kind: 'facts',
      id: 'lake',
      title: 'Lake',
      facts: [
        {
          label: 'files',
          text: `${counted.length} counted of ${counted.length + leftOut.length} in the lake`,
        },
        { label: 'runs', text: `${runs.length} with steps` },
        { label: 'nodes', text: nodes.size > 0 ? String(nodes.size) : 'not recorded' },
        ...(data.broken.length > 0
          ? [
              {
                label: 'broken',
                text: `${plural(data.broken.length, 'file')} could not be mapped`,
                tone: 'bad' as const,
              },
            ]
          : []),
      ],
    },
  ];
  const wrong = [
    ...problems.map(({ run, text }) => ({ what: run, text })),
    ...leftOut.map(({ path, why }) => ({ what: path, text: `left out: ${why}` })),
    ...data.broken.map(({ path, message, hint }) => ({ what: path, text: `${message} ${hint}` })),
  ];
  if (wrong.length > 0)
    blocks.push(
      tableOf(wrong, { id: 'problems', title: 'Incomplete, mixed or broken' }, [
        ['Run or file', 'text', row => row.what],
        ['Problem', 'text', row => row.text, { priority: KEEP }],
      ]),
    );
  return blocks;
}

function changeBlocks({ histories }: FleetReport): Block[] {
  return histories.flatMap(({ changes }) => changes).flatMap(change => [fallOf(change), kernelTable(change)]);
}

function fallOf({ lastBefore, firstAfter, before, after, terms }: LevelChange): WaterfallBlock {
  const named = (runs: readonly string[], run: string) =>
    runs.length === 1 ? run : `${plural(runs.length, 'run')}, mean`;
  return {
    kind: 'waterfall',
    id: `change-${firstAfter}`,
    title: `Change at run ${firstAfter}`,
    from: { label: `before: ${named(before, lastBefore)}`, ns: terms.fromNs },
    to: { label: `after: ${named(after, firstAfter)}`, ns: terms.toNs },
    terms: terms.terms.map(({ look, fromNs, toNs }) => ({
      ...{ label: look.label, color: look.color, fromNs, toNs, changeNs: toNs - fromNs },
      ...{ fromCount: null, toCount: null },
    })),
  };
}

const kernelTable = ({ firstAfter, terms }: LevelChange): TableBlock =>
  tableOf(
    terms.kernels,
    { id: `kernels-${firstAfter}`, title: `Kernels that changed most at run ${firstAfter}` },
    [
      ['Kernel', 'text', row => row.name],
      ['Family', 'text', row => row.family],
      ['Before', 'ns-mean', row => row.fromNs],
      ['After', 'ns-mean', row => row.toNs],
      ['Change', 'ns-change', row => row.toNs - row.fromNs],
      ['Count before', 'mean', row => row.fromCount],
      ['Count after', 'mean', row => row.toCount],
    ],
  );

const stepColumns = <Row extends UnitMeans>() =>
  [
    ['Step', 'ns-mean', (row: Row) => row.wallNs],
    ['Compute', 'ns-mean', (row: Row) => row.computeNs],
    ['Comm exposed', 'ns-mean', (row: Row) => row.communicationNs],
    ['Copies exposed', 'ns-mean', (row: Row) => row.copyNs, { priority: -1 }],
    ['Idle', 'ns-mean', (row: Row) => row.idleNs],
  ] as const;

const rankTable = (ranks: readonly RankRow[]): TableBlock =>
  tableOf(
    ranks,
    {
      id: 'ranks',
      title: 'Ranks, furthest above the median of their run first',
      advice:
        'Own is the step apart from exposed communication: what a rank needs itself. Above least: time in collectives above that of the quickest rank; if all ranks take part in the same collectives, at least this much is waiting.',
    },
    [
      ['Run', 'text', row => row.run],
      ['Rank', 'text', row => unitName(row)],
      ['Node', 'text', row => row.host],
      ['Phase', 'text', row => phaseLook(row.phase).label, { priority: -1 }],
      ['Own', 'ns-mean', row => row.ownNs],
      ['Above median', 'ns-change', row => row.aboveMedianNs],
      ['Above median (%)', 'share', row => row.aboveMedianShare],
      ['Mostly', 'text', row => row.mostly],
      ['Slowest in steps (%)', 'share', row => row.slowestShare ?? undefined],
      ['Above least', 'ns-mean', row => row.collectiveExcessNs ?? undefined, { priority: -1 }],
    ],
  );

const nodeTable = ({ nodes }: FleetReport): TableBlock =>
  tableOf(
    nodes,
    {
      id: 'nodes',
      title: 'Nodes',
      advice:
        'Of median: what its ranks need apart from communication, divided by the median rank of their run, mean.',
    },
    [
      ['Node', 'text', row => row.host],
      ['Runs', 'count', row => row.runs],
      ['Ranks', 'count', row => row.units],
      ['Of median (%)', 'share', row => row.ofMedian],
      ['Slowest in', 'count', row => row.slowestInRuns],
      ['Of shared runs', 'count', row => row.sharedRuns],
    ],
  );

const configurationTable = ({ configurations }: FleetReport): TableBlock =>
  tableOf(configurations, { id: 'configurations', title: 'Configurations, slowest first' }, [
    ['Configuration', 'text', row => row.configuration],
    ['Phase', 'text', row => phaseLook(row.phase).label],
    ['Runs', 'count', row => row.runs],
    ...stepColumns<(typeof configurations)[number]>(),
    ['Latest run', 'text', row => row.latestRun],
  ]);

const runTable = (runs: readonly RunSummary[]): TableBlock =>
  tableOf(runs, { id: 'runs', title: 'Runs, oldest first' }, [
    ['Run', 'text', row => row.run],
    ['Started (UTC)', 'text', row => (row.startUtcNs === null ? null : utc(row.startUtcNs))],
    ['Phase', 'text', row => phaseLook(row.phase).label],
    ['Ranks', 'count', row => row.units],
    ['Steps', 'count', row => row.steps],
    ...stepColumns<RunSummary>(),
    ['Slowest ÷ median', 'text', row => row.spread?.toFixed(3) ?? null, { align: 'right' }],
    ['Configuration', 'text', row => row.configuration],
    ['Note', 'text', row => (row.mixed ? 'mixed' : null)],
  ]);

const utc = (ns: number): string => new Date(ns / 1e6).toISOString().slice(0, 19).replace('T', ' ');

const findingTable = ({ findings }: FleetReport): TableBlock =>
  tableOf(findings, { id: 'findings', title: 'Findings over all runs' }, [
    ['Rule', 'text', row => row.rule],
    ['Phase', 'text', row => (row.phase === null ? null : phaseLook(row.phase).label)],
    ['Runs', 'count', row => row.runs],
    ['Files', 'count', row => row.files],
    ['Per step', 'ns-mean', row => row.costNs ?? undefined],
    ['First run', 'text', row => row.firstRun],
    ['Last run', 'text', row => row.lastRun],
    ['Example', 'text', row => row.claim],
  ]);

/** The way down: commands on the original files. */
function downBlocks({ ranks, histories, data }: FleetReport): Block[] {
  const pathsOf = (run: string) =>
    data.files.counted.filter(file => file.run === run).map(({ path }) => path);
  const folderOrFiles = (run: string) => pathsOf(run).slice(0, 8).map(shellQuote).join(' ');
  const facts = [
    ...ranks.slice(0, 3).map(rank => ({
      label: `${rank.run} ${unitName(rank)}`,
      text: `stepscope analyze ${shellQuote(rank.path)}`,
    })),
    ...[...new Set(ranks.slice(0, 3).map(({ run }) => run))]
      .filter(run => pathsOf(run).length <= 8)
      .map(run => ({
        label: `${run} who waits for whom`,
        text: `stepscope analyze ${folderOrFiles(run)} --only rank-waits`,
      })),
    ...histories.flatMap(({ changes }) =>
      changes.map(({ firstAfter, lastBefore }) => ({
        label: `change at ${firstAfter}`,
        text: `stepscope compare ${shellQuote(pathsOf(lastBefore)[0])} ${shellQuote(pathsOf(firstAfter)[0])}`,
      })),
    ),
  ];
  return facts.length > 0
    ? [
        {
          kind: 'facts',
          id: 'down',
          title: 'Down to the files',
          facts: facts.map(fact => ({ ...fact, isCommand: true })),
        },
      ]
    : [];
}
