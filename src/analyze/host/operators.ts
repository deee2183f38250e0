/** Operators of the framework by their inputs: what they cost on the host and launched on the GPU, and how fast that ran. */
import { NONE } from '../../base/column.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { gpuWork, WorkKind } from '../gpu/gpu-work.js';
import { workFamilies } from '../gpu/work-families.js';
import { selectedMoments } from '../inference/selected-moments.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { rowsTable } from '../rows-table.js';
import { callingModule } from './calling-module.js';
import { describeOperators, type OperatorsSummary } from './describe-operators.js';
import { noOpCalls, opCalls } from './op-calls.js';
import { commonLimits, operatorRates, type Withheld } from './operator-rates.js';
import { LISTED_UNDER, listed, OperatorTallies, tally, type UnderOperator } from './operator-tallies.js';
import { operatorTree } from './operator-tree.js';
import { replayedOperators } from './replayed-operators.js';

const LISTED = 1000;
/** Of shapes in a table; JSON and CSV have them whole. */
const LONGEST_INPUTS = 26;

const fields = {
  key: keyField,
  operator: field.text('Operator', 'as the framework names it'),
  inputs: maybe(field.text('Inputs', 'their shapes, those of tensors at the beginning', { priority: KEEP })),
  shapes: quiet(
    maybe(field.text('Input shapes', 'as recorded; [] for one that is not a tensor, left out at the end')),
  ),
  types: quiet(maybe(field.text('Input types', 'of its inputs, as recorded'))),
  module: maybe(
    field.text('Module', 'the innermost nn.Module or range it is called in, most often', { priority: -2 }),
  ),
  count: field.count('Count', 'calls in the selected steps'),
  hostNs: field.ns('Host', 'time from start to end of the calls', { priority: -1 }),
  hostSelfNs: field.ns('Host self', 'the same, without the operators it calls'),
  gpuNs: field.ns('GPU self', 'sum of durations of the work it launched itself'),
  gpuTotalNs: field.ns('GPU', 'the same, with the operators it calls', { priority: -1 }),
  gpuShare: field.share('Share (%)', 'GPU self, of the sum over all GPU work', { priority: -1 }),
  launched: field.count('Launched', 'pieces of GPU work it launched itself', { priority: -2 }),
  teraflops: maybe(field.rate('TFLOP/s', 'operations by its shapes, divided by GPU time')),
  terabytesPerSecond: maybe(field.rate('TB/s', 'inputs and output by shapes and types, divided by GPU time')),
  ofLight: maybe(field.share('Of light (%)', 'minimum time on this GPU divided by GPU time')),
  bound: maybe(field.text('Limit', 'memory or compute', { priority: -1 })),
  modules: field.list<UnderOperator>(
    'Modules',
    `up to ${LISTED_UNDER} that call it; ns is its GPU self time`,
  ),
  kernels: field.list<UnderOperator>('Kernels', `up to ${LISTED_UNDER} that it launches itself`),
};

type OperatorRow = RowOf<typeof fields>;

export const operators: Analysis<OperatorRow, AnalysisResult<OperatorRow>> = {
  id: 'operators',
  title: 'Operators',
  question: 'Which operators take the time, with which shapes, and how fast are they?',
  reads: {},
  uses: [opCalls, gpuWork, workFamilies, selectedWork, selectedMoments, stepsOf, callingModule],
  onlyAsked: true,
  fields,
  describe: ({ rows, summary }) => describeOperators(rowsTable(operators, rows), summary as OperatorsSummary),
  compute({ profile, settings, use, useIfRecorded }) {
    const graphs = settings.capturedGraphs ?? [];
    const work = use(gpuWork);
    const recorded = graphs.length > 0 ? useIfRecorded(opCalls) : use(opCalls);
    const calls = recorded ?? noOpCalls(work.length, profile.tables.apiCalls?.length ?? 0);
    const { selected, first, end, step } = use(selectedWork);
    const moments = use(selectedMoments);
    const { classOf } = use(workFamilies);
    const modules = use(callingModule);
    const names = profile.tables.kernels?.name;

    const isSelected = new Uint8Array(calls.length);
    const selfNs = new Float64Array(calls.length);
    for (let call = 0; call < calls.length; call++) {
      const { process } = profile.threads[calls.thread[call]];
      isSelected[call] = moments.holds(process, calls.start[call]) ? 1 : 0;
      selfNs[call] += calls.end[call] - calls.start[call];
      if (calls.parent[call] !== NONE) selfNs[calls.parent[call]] -= calls.end[call] - calls.start[call];
    }
    const gpuSelfNs = new Float64Array(calls.length);
    const launched = new Int32Array(calls.length);
    const kinds = new OperatorTallies(calls.kinds);
    const replayed = replayedOperators(profile, work, i => selected[i] === 1, graphs, isGemm, batchOf);
    const inReplay = new Uint8Array(work.length);
    for (const replay of replayed.replays) for (const i of replay.work) inReplay[i] = 1;
    let allNs = 0;
    const outside = { replayNs: 0, otherNs: 0 };
    const devices = new Set<number>();
    for (let i = first; i < end; i++) {
      if (!selected[i]) continue;
      const ns = work.end[i] - work.start[i];
      allNs += ns;
      const call = calls.ofWork[i];
      if (call === NONE && inReplay[i]) devices.add(work.device[i]);
      else if (call === NONE) {
        if (isReplayed(i)) outside.replayNs += ns;
        else outside.otherNs += ns;
      }
      if (call === NONE) continue;
      // Work of the selected steps counts with the operator that launched it, wherever that began.
      isSelected[call] = 1;
      devices.add(work.device[i]);
      gpuSelfNs[call] += ns;
      launched[call]++;
      tally(kinds.tallies[calls.kind[call]].kernels, nameOfWork(i), ns);
    }
    const gpuNs = gpuSelfNs.slice();
    for (let call = calls.length - 1; call >= 0; call--)
      if (calls.parent[call] !== NONE) gpuNs[calls.parent[call]] += gpuNs[call];

    for (let call = 0; call < calls.length; call++) {
      if (!isSelected[call]) continue;
      const known = kinds.tallies[calls.kind[call]];
      known.count++;
      known.hostSelfNs += Math.max(0, selfNs[call]);
      known.gpuNs += gpuSelfNs[call];
      known.launched += launched[call];
      if (!isInside(call)) {
        if (gpuNs[call] > 0) known.withWork++;
        known.hostNs += calls.end[call] - calls.start[call];
        known.gpuTotalNs += gpuNs[call];
      }
      const module = modules.at(calls.thread[call], calls.start[call]);
      if (module !== '') tally(known.modules, module, gpuSelfNs[call]);
    }
    let fromCaptureNs = 0;
    for (const { work: pieces, graph } of replayed.replays)
      fromCaptureNs += kinds.addReplay(
        graph,
        pieces.map(i => work.end[i] - work.start[i]),
        pieces.map(nameOfWork),
      );
    const unnamedNs = sumOver(replayed.replays, ({ work: pieces }) =>
      sumOver(pieces, i => (calls.ofWork[i] === NONE ? work.end[i] - work.start[i] : 0)),
    );
    outside.otherNs += unnamedNs - fromCaptureNs;
    const withheld = new Map<Withheld, number>();
    const withhold = (why: Withheld) => withheld.set(why, (withheld.get(why) ?? 0) + 1);
    const limits = commonLimits(profile, devices);
    const found = kinds.kinds.flatMap((kind, k): OperatorRow[] => {
      const { count, withWork, launched: pieces, kernels, modules: callers, ...times } = kinds.tallies[k];
      if (count === 0) return [];
      const callersByTime = listed(callers);
      return [
        {
          key: `op:${kind.name}/${kind.shapes}/${kind.types}`,
          operator: kind.name,
          inputs: kind.shapes === '' ? null : readable(withoutTrailing(kind.shapes)),
          shapes: kind.shapes === '' ? null : withoutTrailing(kind.shapes),
          types: kind.types === '' ? null : kind.types,
          module: callersByTime[0]?.name ?? null,
          count,
          ...times,
          gpuShare: allNs > 0 ? times.gpuNs / allNs : 0,
          launched: pieces,
          ...operatorRates(kind, withWork, times.gpuTotalNs, limits, withhold),
          modules: callersByTime,
          kernels: listed(kernels),
        },
      ];
    });
    found.sort((a, b) => b.gpuNs - a.gpuNs || b.hostSelfNs - a.hostSelfNs || (a.key < b.key ? -1 : 1));
    const rows = found.slice(0, LISTED);
    return {
      rows,
      summary: {
        tree: operatorTree(calls, isSelected, gpuSelfNs, gpuNs),
        steps: moments.steps,
        operators: found.length,
        listed: rows.length,
        gpuNs: allNs,
        ofOperatorsNs: allNs - outside.replayNs - outside.otherNs,
        ...outside,
        fromCaptureNs,
        replays: { matched: replayed.replays.length, ...Object.fromEntries(replayed.unmatched) },
        shapesRecorded: kinds.kinds.some(kind => kind.shapes !== ''),
        withheld: Object.fromEntries(withheld),
      } satisfies OperatorsSummary,
    };

    function isGemm(kernelName: number): boolean {
      return classOf(kernelName).family === 'gemm';
    }

    function batchOf(i: number): number | undefined {
      const facts = step[i] === NONE ? undefined : useIfRecorded(stepsOf)?.steps[step[i]].facts;
      return facts?.generationRequests;
    }

    function isReplayed(i: number): boolean {
      if (work.kind[i] === WorkKind.graphBlock) return true;
      const launch = work.launch[i];
      return (
        launch !== NONE && /GraphLaunch/.test(profile.strings.text(profile.tables.apiCalls!.name[launch]))
      );
    }

    function nameOfWork(i: number): string {
      const kind = work.kind[i];
      if (kind === WorkKind.kernel) return classOf(names![work.row[i]]).shortName;
      return kind === WorkKind.copy ? 'memory copy' : 'memset';
    }

    /** Called by itself, with the same inputs: its time is in its caller's already. */
    function isInside(call: number): boolean {
      for (let outer = calls.parent[call]; outer !== NONE; outer = calls.parent[outer])
        if (calls.kind[outer] === calls.kind[call]) return true;
      return false;
    }
  },
};

const withoutTrailing = (shapes: string): string => shapes.replace(/(?:,\[\])+\]$/, ']');

/** `8×2048, 2048×11264`; lists of tensors in brackets of their own. */
function readable(shapes: string): string {
  const words = shapes
    .slice(1, -1)
    .replace(/\[((?:\d+,)*\d+)\]/g, (_, sizes: string) => sizes.replaceAll(',', '×'))
    .replaceAll('[]', '–')
    .replaceAll(',', ', ');
  return words.length > LONGEST_INPUTS ? `${words.slice(0, LONGEST_INPUTS - 1)}…` : words;
}

const sumOver = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
  items.reduce((total, item) => total + of(item), 0);
