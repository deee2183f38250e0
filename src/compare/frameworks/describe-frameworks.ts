/** The comparison as blocks: the answer, what was measured, where a token's time goes, and what speaks against it. */
import type { Block, Fact, StatementBlock, TableBlock, TableColumn } from '../../analyze/block.js';
import { familyLook, phaseLook } from '../../analyze/names-and-colors.js';
import { readableCell } from '../../analyze/readable-cell.js';
import { formatDuration, plural } from '../../base/units.js';
import { benchMetrics } from '../../catalog/bench-metrics.js';
import { type Phase, phases } from '../../catalog/phases.js';
import type { Reading } from '../../run/figure.js';
import { benchRows, type MeasureGroup, measures } from '../../run/measures.js';
import type { Sameness } from '../../run/sameness.js';
import { tokenParts, tokenWords } from '../../run/token-budget.js';
import type { FrameworkComparison } from './compare-frameworks.js';
import { describeCorrelation } from './describe-correlation.js';
import { printedSum, unitFor } from './equation.js';
import { budgetOf, type Framework, phaseOf } from './framework.js';

const NOT_RECORDED = 'not recorded';
const LISTED_FAMILIES = 8;

export function describeFrameworks(comparison: FrameworkComparison): Block[] {
  const { frameworks, phase } = comparison;
  const others = phases
    .map(({ id }) => id)
    .filter(id => id !== phase && frameworks.some(framework => budgetOf(framework, id)));
  return [
    headerBlock(comparison),
    answerBlock(comparison),
    measuredTable(frameworks),
    ...[phase, ...others].flatMap(id => tokenTable(frameworks, id)),
    ...(phase ? [groupTable(frameworks, phase, 'kernels', `Kernels, ${phaseLook(phase).label}`)] : []),
    ...(phase ? familyTable(frameworks, phase) : []),
    ...(phase ? [groupTable(frameworks, phase, 'memory', `Memory, ${phaseLook(phase).label}`)] : []),
    ...describeCorrelation(comparison),
    fairnessBlock(comparison),
    ...missingBlock(comparison),
  ];
}

export function headerBlock({ title, frameworks, phase }: FrameworkComparison): StatementBlock {
  const gpus = [...new Set(frameworks.flatMap(({ run }) => run?.facts.gpu ?? []))];
  const parts = [
    title,
    `${plural(frameworks.length, 'framework')}: ${frameworks.map(({ name }) => name).join(', ')}`,
    ...gpus,
    phase && `compared in ${phaseLook(phase).label}`,
    ...frameworks.flatMap(({ name, notes }) => (notes ? [`${name}: ${notes}`] : [])),
  ];
  return {
    kind: 'statement',
    id: 'frameworks-header',
    title: 'Frameworks',
    lines: [parts.filter(Boolean).join(' · ')],
    quiet: true,
  };
}

export const answerBlock = ({ verdict }: FrameworkComparison): StatementBlock => ({
  kind: 'statement',
  id: 'frameworks-answer',
  title: 'Answer',
  lines: verdict.lines,
});

type Row = {
  readonly label: string;
  readonly kind: TableColumn['kind'];
  of(framework: Framework): Reading | undefined;
};

/** A row per figure, a column per framework: what was not recorded says so in its cell. */
function figureTable(
  id: string,
  title: string,
  frameworks: readonly Framework[],
  rows: readonly Row[],
): TableBlock {
  const columns = frameworks.map(
    (framework): TableColumn => ({
      header: framework.name,
      kind: 'text',
      align: 'right',
      values: rows.map(({ kind, of }) => figureText(of(framework), kind)),
    }),
  );
  return {
    kind: 'table',
    id,
    title,
    rows: rows.length,
    columns: [{ header: 'Name', kind: 'text', values: rows.map(({ label }) => label) }, ...columns],
  };
}

function figureText(figure: Reading | undefined, kind: TableColumn['kind']): string {
  if (figure === undefined || figure.value === null) return NOT_RECORDED;
  const text = readableCell({
    header: '',
    kind,
    values: [kind === 'bytes' ? Math.round(figure.value) : figure.value],
  })(0);
  return kind === 'share' ? `${text}%` : text;
}

function measuredTable(frameworks: readonly Framework[]): TableBlock {
  const rows = benchRows
    .filter((id, i) => i === 0 || frameworks.some(({ measured }) => measured[id].value !== null))
    .map((id): Row => {
      const { header, kind } = benchMetrics.find(metric => metric.id === id)!;
      return { label: header, kind, of: ({ measured }) => measured[id] };
    });
  const perGpu: Row = {
    label: 'Output tok/s per GPU',
    kind: 'rate',
    of: ({ measured: { outputTokensPerSecond: total }, gpus }) =>
      total.value === null || gpus === null ? undefined : { value: total.value / gpus },
  };
  const counts = new Set(frameworks.map(({ gpus }) => gpus));
  if (counts.size > 1) rows.splice(1, 0, perGpu);
  const table = figureTable('frameworks-measured', 'Measured by the benchmark', frameworks, rows);
  const runs = frameworks.map(({ name, bench }) => {
    if (!bench) return `${name}: no benchmark`;
    const more = bench.loads > 1 ? ` at 1 of ${bench.loads} loads` : '';
    return `${name}: ${plural(bench.runs.length, 'run')}${more}`;
  });
  return { ...table, advice: `Means. ${runs.join(', ')}.` };
}

/** kernels + communication + copies + host + other idle = wall, in one unit and adding up as printed. */
function tokenTable(frameworks: readonly Framework[], phase: Phase | null): Block[] {
  const known = frameworks.flatMap(({ name }, i) => {
    const budget = budgetOf(frameworks[i], phase);
    return budget ? [{ name, budget }] : [];
  });
  if (phase === null || known.length === 0) return [];
  const unit = unitFor(known.map(({ budget }) => budget.wallNs / budget.tokens));
  const sums = known.map(({ budget }) =>
    printedSum(
      tokenParts.map(part => budget.partsNs[part] / budget.tokens),
      unit,
    ),
  );
  const column = (header: string, of: (row: number) => string): TableColumn => ({
    header,
    kind: 'text',
    align: 'right',
    values: known.map((_, row) => of(row)),
  });
  const isHidden = (row: number) =>
    known[row].budget.graphReplayNs > 0 && known[row].budget.partsNs.communication === 0;
  const headers = ['Kernels', '+ Comm', '+ Copies', '+ Host', '+ Other idle'];
  const without = frameworks.filter(framework => !known.some(({ name }) => name === framework.name));
  const table: TableBlock = {
    kind: 'table',
    id: `frameworks-token-${phase}`,
    title: `Per ${phaseLook(phase).label} token, ${unit.name}`,
    rows: known.length,
    columns: [
      { header: 'Name', kind: 'text', values: known.map(({ name }) => name) },
      ...headers.map((header, i) =>
        column(header, row => (header === '+ Comm' && isHidden(row) ? 'in kernels' : sums[row].parts[i])),
      ),
      column('= Wall', row => sums[row].whole),
      column('Step', row => formatDuration(known[row].budget.wallNs / known[row].budget.windows)),
      column('Tokens', row =>
        figureText({ value: known[row].budget.tokens / known[row].budget.windows }, 'mean'),
      ),
      column('Steps', row => String(known[row].budget.steps)),
    ],
    advice: [
      `Token: ${tokenWords[phase] ?? 'one token'}.`,
      known.some(({ budget }) => budget.graphReplayNs > 0) &&
        'Graph replays recorded as blocks count as kernels, including idle time inside them.',
      without.length > 0 && `Not recorded: ${without.map(({ name }) => name).join(', ')}.`,
    ]
      .filter(Boolean)
      .join(' '),
  };
  return [table];
}

function groupTable(
  frameworks: readonly Framework[],
  phase: Phase,
  group: MeasureGroup,
  title: string,
): TableBlock {
  const rows = measures
    .filter(measure => measure.group === group)
    .map(
      ({ id, label, kind }): Row => ({
        label,
        kind,
        of: framework => phaseOf(framework, phase)?.figures[id],
      }),
    )
    // Only where a model was given.
    .filter(
      row =>
        row.label !== 'Of speed of light' || frameworks.some(framework => row.of(framework)?.value != null),
    );
  const notes = rows.flatMap(({ label, of }) =>
    frameworks.flatMap(framework => {
      const figure = of(framework);
      return figure && figure.value !== null && figure.note ? [`${label}: ${figure.note}.`] : [];
    }),
  );
  const table = figureTable(`frameworks-${group}`, title, frameworks, rows);
  return notes.length > 0 ? { ...table, advice: [...new Set(notes)].join(' ') } : table;
}

function familyTable(frameworks: readonly Framework[], phase: Phase): Block[] {
  const lists = frameworks.map(framework => {
    const found = phaseOf(framework, phase)?.families;
    return Array.isArray(found) ? found : undefined;
  });
  const most = new Map<string, number>();
  for (const list of lists)
    for (const { family, nsPerToken } of list ?? [])
      most.set(family, Math.max(most.get(family) ?? 0, nsPerToken));
  const order = [...most].sort((a, b) => b[1] - a[1]).map(([family]) => family);
  if (order.length === 0) return [];
  const rows = order.slice(0, LISTED_FAMILIES);
  const cell = (list: (typeof lists)[number], family: string): string => {
    if (!list) return NOT_RECORDED;
    const own = list.find(row => row.family === family);
    if (!own) return 'none';
    return `${formatDuration(own.nsPerToken)} in ${figureText({ value: own.kernelsPerStep }, 'mean')}`;
  };
  const table: TableBlock = {
    kind: 'table',
    id: 'frameworks-families',
    title: `Kernel families per ${phaseLook(phase).label} token`,
    rows: rows.length,
    columns: [
      { header: 'Name', kind: 'text', values: rows.map(family => familyLook(family).label) },
      ...frameworks.map(
        ({ name }, i): TableColumn => ({
          header: name,
          kind: 'text',
          align: 'right',
          values: rows.map(family => cell(lists[i], family)),
        }),
      ),
    ],
    advice:
      'Time per token, and kernels per step. Durations are summed, so overlapping families can exceed the wall time.',
  };
  return [table];
}

function fairnessBlock({ checks, frameworks }: FrameworkComparison): Block {
  const facts = checks.map((check): Fact => {
    const tone = check.status === 'same' ? 'quiet' : check.status === 'unknown' ? undefined : toneOf(check);
    return { label: check.label, text: checkText(check, frameworks), ...(tone ? { tone } : {}) };
  });
  return { kind: 'facts', id: 'frameworks-fairness', title: 'Is the comparison fair?', facts };
}

const toneOf = ({ effect }: Sameness): Fact['tone'] => (effect === 'explains' ? undefined : 'bad');

function checkText(check: Sameness, frameworks: readonly Framework[]): string {
  const { status, values, why } = check;
  // These are held against a measure of their own, not against each other.
  const differs = /^(steadyState|errors|profiled)/.test(check.id) ? 'not met' : 'differs';
  const said = new Set(values);
  if (said.size === 1) {
    const [only] = values;
    if (status === 'same') return `ok: ${only}`;
    return only === null
      ? `unknown: stated by none (if different: ${why})`
      : `${differs}: all ${only}; ${why}`;
  }
  const each = frameworks.map(({ name }, i) => `${name} ${values[i] ?? 'not stated'}`).join(', ');
  if (status === 'same') return `ok: ${each}`;
  return status === 'unknown' ? `unknown: ${each} (if different: ${why})` : `${differs}: ${each}; ${why}`;
}

/** What the cells could not show, each with how to record it; said once for all who lack it. */
function missingBlock({ frameworks, phase }: FrameworkComparison): Block[] {
  const lacking = new Map<
    string,
    { readonly names: Set<string>; readonly what: string; readonly hint: string }
  >();
  const note = (name: string, figure: Reading | null | undefined) => {
    if (!figure || figure.value !== null) return;
    const key = `${figure.what}\n${figure.hint}`;
    const known = lacking.get(key) ?? { names: new Set<string>(), what: figure.what, hint: figure.hint };
    known.names.add(name);
    lacking.set(key, known);
  };
  for (const framework of frameworks) {
    note(framework.name, framework.why);
    note(framework.name, framework.measured.outputTokensPerSecond);
    for (const id of benchRows)
      if (frameworks.some(({ measured }) => measured[id].value !== null))
        note(framework.name, framework.measured[id]);
    const own = phaseOf(framework, phase);
    if (!own && !framework.why && phase)
      note(framework.name, {
        value: null,
        what: `${phase} steps`,
        hint: `capture iterations in which the engine does ${phase}`,
      });
    for (const { id } of measures) if (id !== 'ofLeastTime') note(framework.name, own?.figures[id]);
  }
  if (lacking.size === 0) return [];
  const facts = [...lacking.values()].map(
    ({ names, what, hint }): Fact => ({
      label: 'missing',
      text: `${[...names].join(', ')}: ${what}`,
      tone: 'quiet',
      hint,
    }),
  );
  return [{ kind: 'facts', id: 'frameworks-missing', title: 'Not recorded', facts }];
}
