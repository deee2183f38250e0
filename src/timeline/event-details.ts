/** Everything a profile knows about one event, as labelled texts. */
import type { Analyzer } from '../analyze/analysis.js';
import { gpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import { workFamilies } from '../analyze/gpu/work-families.js';
import { codeInGap } from '../analyze/host-code/code-in-gap.js';
import { idleCode } from '../analyze/host-code/idle-code.js';
import { layerOfWork } from '../analyze/inference/layer-of-work.js';
import { stepWork } from '../analyze/inference/step-work.js';
import { stepsOf } from '../analyze/inference/steps.js';
import { upperBound } from '../base/bisect.js';
import type { AnyArray } from '../base/column.js';
import { NONE } from '../base/column.js';
import { formatBytes, formatCount, formatDuration } from '../base/units.js';
import { idleCauses } from '../catalog/idle-causes.js';
import { familyOf } from '../catalog/kernels/families.js';
import type { Profile, Row } from '../model/profile.js';
import { columnsOf, type TableName } from '../model/schema.js';
import { cpuFacts } from './cpu-facts.js';
import { stepLabel } from './step-label.js';
import { timeFacts } from './time-facts.js';
import { type LaneData, rowAt } from './track.js';

interface Fact {
  readonly label: string;
  readonly text: string;
}

const tableOfKind: Record<number, TableName> = {
  [WorkKind.kernel]: 'kernels',
  [WorkKind.copy]: 'copies',
  [WorkKind.memset]: 'memsets',
  [WorkKind.graphBlock]: 'graphLaunches',
};

/** The table and row an event was recorded in; undefined for what was made from several. */
function recordOf(
  analyzer: Analyzer,
  { source }: LaneData,
  row: number,
): { table: TableName; row: number } | undefined {
  if (source === 'steps' || source === 'idle' || source === 'layers' || source === 'ranks') return undefined;
  if (source !== 'work' && source !== 'replays') return { table: source, row };
  const work = analyzer.get(gpuWork);
  return { table: tableOfKind[work.kind[row]], row: work.row[row] };
}

export function eventFacts(analyzer: Analyzer, data: LaneData, index: number): Fact[] {
  const row = rowAt(data.row, index);
  const start = data.start[index];
  const times = timeFacts(start, data.end[index]);
  switch (data.source) {
    case 'steps':
      return [...times, ...stepFacts(analyzer, row)];
    case 'idle': {
      const { label, about } = idleCauses[data.tone[index]];
      return [
        { label: 'why', text: `${label}: ${about}` },
        ...codeFacts(analyzer, start, data.end[index], row),
        ...times,
        ...nextFacts(analyzer, row),
      ];
    }
    case 'ranks':
      return times;
    case 'layers':
      return [...times, ...layerFacts(analyzer, row, data.end[index])];
    case 'replays':
      return [
        ...launchFacts(analyzer, row, start),
        ...times,
        // The row is that of its first node, whose family and layer are not the graph's.
        ...workFacts(analyzer, row).filter(({ label }) => label === 'step'),
        ...recordFacts(analyzer.profile, 'apiCalls', launchOf(analyzer, row)),
      ];
    case 'work': {
      const record = recordOf(analyzer, data, row)!;
      return [
        ...launchFacts(analyzer, row, start),
        ...times,
        ...rateFacts(analyzer.profile, record.table, record.row, data.end[index] - start),
        ...workFacts(analyzer, row),
        ...originFacts(analyzer, record.table, record.row, row),
        ...recordFacts(analyzer.profile, record.table, record.row),
      ];
    }
    case 'contextSwitches':
      return [...times, ...cpuFacts(analyzer, row)];
    default:
      return [...times, ...recordFacts(analyzer.profile, data.source, row)];
  }
}

const launchOf = (analyzer: Analyzer, work: number) => analyzer.get(gpuWork).launch[work];

/** Which call launched it, and how long it lay in the queue from the end of that call on. */
function launchFacts(analyzer: Analyzer, work: number, startNs: number): Fact[] {
  const calls = analyzer.profile.tables.apiCalls;
  const call = launchOf(analyzer, work) as Row<'apiCalls'>;
  if (!calls) return [];
  if ((call as number) === NONE) return [{ label: 'launched by', text: 'no launch is recorded' }];
  const { name, tid } = analyzer.profile.threads[calls.thread[call]] ?? { name: '', tid: 0 };
  const took = formatDuration(calls.end[call] - calls.start[call]);
  const queued = startNs - calls.end[call];
  return [
    {
      label: 'launched by',
      text: `${analyzer.profile.strings.text(calls.name[call])} (${took}) on ${name || 'thread'} ${tid}`,
    },
    {
      label: 'queued',
      text:
        queued > 0 ? `${formatDuration(queued)} after the call returned` : 'started before the call returned',
    },
  ];
}

/** What was moved, per second. */
function rateFacts(profile: Profile, table: TableName, row: number, ns: number): Fact[] {
  const bytes = (profile.tables[table] as unknown as Record<string, AnyArray> | undefined)?.bytes?.[row] ?? 0;
  return bytes > 0 && ns > 0 ? [{ label: 'bandwidth', text: `${formatBytes(bytes / (ns / 1e9))}/s` }] : [];
}

/** The framework op, and the innermost range on the launching thread: the module, where modules are marked. */
function originFacts(analyzer: Analyzer, table: TableName, row: number, work: number): Fact[] {
  const { profile } = analyzer;
  const { ops, apiCalls, ranges } = profile.tables;
  const facts: Fact[] = [];
  const call = launchOf(analyzer, work) as Row<'apiCalls'>;
  const own = (profile.tables[table] as unknown as Record<string, AnyArray> | undefined)?.op?.[row] ?? NONE;
  const op = own === NONE && (call as number) !== NONE ? (apiCalls?.op?.[call] ?? NONE) : own;
  if (ops && op !== NONE) facts.push({ label: 'op', text: profile.strings.text(ops.name[op as Row<'ops'>]) });
  if (!ranges || !apiCalls || (call as number) === NONE) return facts;
  const at = apiCalls.start[call];
  // Ranges are in order of start: the last one that holds the call is the innermost.
  for (let i = upperBound(ranges.start as ArrayLike<number>, at) - 1; i >= 0; i--) {
    const range = i as Row<'ranges'>;
    if (ranges.thread[range] !== apiCalls.thread[call] || ranges.name[range] === NONE) continue;
    if (!(ranges.end[range] >= apiCalls.end[call])) continue;
    facts.push({ label: 'range', text: profile.strings.text(ranges.name[range]) });
    break;
  }
  return facts;
}

function stepFacts(analyzer: Analyzer, step: number): Fact[] {
  const found = analyzer.get(stepsOf)!;
  const { iteration, facts } = found.steps[step];
  return [
    { label: 'step', text: stepLabel(iteration, facts) },
    { label: 'found by', text: `${found.method} (${found.confidence})` },
  ];
}

/** What ran in a band of a layer, from its first kernel on. */
function layerFacts(analyzer: Analyzer, first: number, end: number): Fact[] {
  const work = analyzer.get(gpuWork);
  const { layer } = analyzer.get(layerOfWork);
  let [kernels, ns] = [0, 0];
  for (let i = first; i < work.length && work.start[i] < end; i++) {
    if (work.kind[i] !== WorkKind.kernel || work.device[i] !== work.device[first]) continue;
    if (layer[i] !== layer[first]) continue;
    kernels++;
    ns += work.end[i] - work.start[i];
  }
  return [
    { label: 'kernels', text: formatCount(kernels) },
    { label: 'kernel time', text: formatDuration(ns) },
    ...workFacts(analyzer, first).filter(({ label }) => label === 'step'),
  ];
}

const MOST_PLACES = 3;

/** Which host code the GPU waited for in a piece of a gap; in the selected steps alone. */
function codeFacts(analyzer: Analyzer, from: number, to: number, next: number): Fact[] {
  const found = codeInGap(analyzer.get(idleCode), { from, to, next, fallback: NONE });
  const shown = found.slice(0, MOST_PLACES).map(({ label, ns }) => `${formatDuration(ns)} ${label}`);
  const more = found.length > MOST_PLACES ? `, ${found.length - MOST_PLACES} more` : '';
  return shown.length > 0 ? [{ label: 'host code', text: `${shown.join(', ')}${more}` }] : [];
}

/** What ended a gap. */
function nextFacts(analyzer: Analyzer, next: number): Fact[] {
  if (next === NONE) return [];
  const work = analyzer.get(gpuWork);
  const names = analyzer.profile.tables.kernels?.name;
  const name =
    work.kind[next] === WorkKind.kernel
      ? analyzer.get(workFamilies).classOf(names![work.row[next]]).shortName
      : tableOfKind[work.kind[next]];
  return [{ label: 'until', text: name }, ...workFacts(analyzer, next)];
}

/** Step, family and layer of a piece of GPU work. */
function workFacts(analyzer: Analyzer, i: number): Fact[] {
  const { profile } = analyzer;
  const work = analyzer.get(gpuWork);
  const facts: Fact[] = [];
  const steps = analyzer.get(stepWork);
  const run = steps?.runOfWork[i] ?? NONE;
  if (steps && run !== NONE) {
    const { iteration, facts: step } = steps.steps.steps[steps.deviceRuns[run].step];
    facts.push({ label: 'step', text: stepLabel(iteration, step) });
  }
  if (work.kind[i] === WorkKind.kernel) {
    const { family, variant, dtype, library, tile } = analyzer
      .get(workFamilies)
      .classOf(profile.tables.kernels!.name[work.row[i]]);
    const more = [variant, dtype, library, tile].filter(Boolean).join(', ');
    facts.push({ label: 'family', text: `${familyOf(family).label}${more ? ` (${more})` : ''}` });
  }
  const { layer, part, parts } = analyzer.get(layerOfWork);
  if (layer[i] !== NONE) {
    const name = parts[part[i]];
    facts.push({ label: 'layer', text: `${layer[i]}${name ? ` · ${name}` : ''}` });
  }
  return facts;
}

/** Three numbers that are one thing to a person: `grid 4 × 8 × 1`. */
const triples = ['grid', 'block', 'cluster'];
/** Numbers that name something are not counted in thousands. */
const NAMES_SOMETHING = /^(correlation|graph|graphNode|graphExec|externalId|class|kind|category)$/;

/** Columns that say nothing to a person, or that are said elsewhere. */
const unsaid = new Set([
  'class',
  'launchType',
  'shortName',
  'mangledName',
  'start',
  'end',
  'name',
  'launch',
  'op',
  'sourceRow',
  'endThread',
  'pythonId',
  'pythonParentId',
]);

function recordFacts(profile: Profile, table: TableName, row: number): Fact[] {
  const columns = profile.tables[table] as unknown as Record<string, AnyArray> | undefined;
  if (!columns || row === NONE) return [];
  const full = columns.name ? profile.strings.text(columns.name[row]) : '';
  return columnsOf(table).flatMap(([column, spec]): Fact[] => {
    const value = columns[column]?.[row];
    if (value === undefined || unsaid.has(column) || Number.isNaN(value)) return [];
    const triple = triples.find(name => column.startsWith(name) && /[XYZ]$/.test(column));
    if (triple) {
      const sizes = ['X', 'Y', 'Z'].map(axis => columns[`${triple}${axis}`]?.[row]);
      return column.endsWith('X') && value > 0 ? [{ label: triple, text: sizes.join(' × ') }] : [];
    }
    if (spec.text && profile.strings.text(value) === full) return [];
    if ((spec.ref || spec.text) && value === NONE) return [];
    if (spec.storage === 'i32' && value === NONE) return [];
    // A call that succeeded and memory that was not used need no words.
    if (value === 0 && spec.optional && /result|bytes/i.test(column)) return [];
    return [{ label: words(column), text: valueText(profile, column, spec, value) }];
  });
}

function valueText(
  profile: Profile,
  column: string,
  spec: { readonly ref?: string; readonly text?: true },
  value: number,
): string {
  if (spec.text) return profile.strings.text(value);
  if (spec.ref === 'streams') return String(profile.streams[value].streamId);
  if (spec.ref === 'threads') {
    const { name, tid } = profile.threads[value];
    return `${name || 'thread'} (${tid})`;
  }
  if (/bytes/i.test(column)) return formatBytes(value);
  if (/percent/i.test(column)) return `${value}%`;
  return Number.isInteger(value) && !NAMES_SOMETHING.test(column) ? formatCount(value) : String(value);
}

/** `registersPerThread` → `registers per thread` */
const words = (column: string) => column.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
