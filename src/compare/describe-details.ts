/** The quieter parts of a comparison: families, figures side by side, layers, what differs in the captures, notes. */

import type { Block, Fact, FactsBlock, TableBlock } from '../analyze/block.js';
import { phaseLook } from '../analyze/names-and-colors.js';
import { tableOf } from '../analyze/table-of.js';
import { formatBytes, formatCount, formatDuration, formatShare, plural } from '../base/units.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import type { FigureChange, LayerChange } from './details.js';

export function familyChangesTable({ families, phase }: PhaseComparison): TableBlock[] {
  if (families.length === 0) return [];
  return [
    tableOf(
      families,
      {
        id: `families-${phase ?? 'all'}`,
        title: phase === null ? 'Kernels by family' : 'Kernels per step by family',
      },
      [
        ['Name', 'text', row => row.label],
        ['n before', 'mean', row => row.fromCount],
        ['n after', 'mean', row => row.toCount],
        ['Before', 'ns-mean', row => row.fromNs],
        ['After', 'ns-mean', row => row.toNs],
        ['Change', 'ns-change', row => Math.round(row.toNs - row.fromNs)],
      ],
    ),
  ];
}

function figureText(value: number | null, unit: FigureChange['unit']): string {
  if (value === null) return '–';
  switch (unit) {
    case 'ns':
      return formatDuration(value);
    case 'share':
      return formatShare(value);
    case 'percent':
      return `${value.toFixed(1)}%`;
    case 'bytes':
      return formatBytes(value);
    case 'hertz':
      return `${(value / 1e9).toFixed(2)} GHz`;
    case 'count':
      return formatCount(Number(value.toFixed(value < 10 ? 1 : 0)));
  }
}

/** Calls with what one of them takes in one line; how long work then waits is in JSON. */
export function figuresTable({ figures, phase }: PhaseComparison): TableBlock[] {
  const shown = figures.filter(({ id }) => !/^(call-time|queue)\//.test(id));
  const cell = ({ id, unit, ...row }: FigureChange, side: 'from' | 'to') => {
    const time = figures.find(other => other.id === id.replace('calls/', 'call-time/'));
    const isCall = id.startsWith('calls/') && time !== undefined && row[side] !== null;
    return `${figureText(row[side], unit)}${isCall ? ` × ${figureText(time[side], 'ns')}` : ''}`;
  };
  return [
    tableOf(shown, { id: `figures-${phase ?? 'all'}`, title: 'Side by side' }, [
      ['Name', 'text', row => row.label],
      ['Before', 'text', row => cell(row, 'from')],
      ['After', 'text', row => cell(row, 'to')],
    ]),
  ];
}

/** Layers of one kind do alike: parts are added up over all of them, and the layer that moved most is named. */
export function layersTable({ layers, phase }: PhaseComparison): TableBlock[] {
  if (layers.length === 0) return [];
  const parts = [...new Set(layers.map(nameOf))];
  const rows = parts.map(name => {
    const own = layers.filter(row => nameOf(row) === name);
    const sum = (of: (row: LayerChange) => number) => own.reduce((total, row) => total + of(row), 0);
    const change = (row: LayerChange) => row.toNs - row.fromNs;
    const most = own.reduce((a, b) => (Math.abs(change(b)) > Math.abs(change(a)) ? b : a));
    return {
      name: own.length > 1 ? `${name} × ${own.length}` : name,
      fromKernels: sum(row => row.fromKernels),
      toKernels: sum(row => row.toKernels),
      fromNs: sum(row => row.fromNs),
      toNs: sum(row => row.toNs),
      most: most.layer === null || own.length < 2 ? '' : String(most.layer),
    };
  });
  return [
    tableOf(rows, { id: `layers-${phase ?? 'all'}`, title: 'Layers' }, [
      ['Name', 'text', row => row.name],
      ['n before', 'mean', row => row.fromKernels],
      ['n after', 'mean', row => row.toKernels],
      ['Before', 'ns-mean', row => row.fromNs],
      ['After', 'ns-mean', row => row.toNs],
      ['Change', 'ns-change', row => Math.round(row.toNs - row.fromNs)],
      ['Most in layer', 'text', row => row.most],
    ]),
  ];
}

const nameOf = ({ layer, part }: LayerChange): string =>
  layer === null ? 'outside layers' : part === '' ? 'layer' : part;

export function checksFacts({ checks }: Comparison): FactsBlock {
  const told = checks.filter(({ status }) => status === 'differs');
  const facts = told.map(
    ({ label, values: [from, to], effect, why }): Fact => ({
      label,
      text: `${from === to ? from : `${from} vs ${to}`}: ${why}`,
      ...(effect === 'weakens' ? { tone: 'bad' as const } : {}),
    }),
  );
  const list = (status: string) =>
    checks
      .filter(check => check.status === status && !told.includes(check))
      .map(({ label }) => label)
      .join(', ');
  const same = list('same');
  const unknown = list('unknown');
  if (same) facts.push({ label: 'the same', text: same, tone: 'quiet' });
  if (unknown) facts.push({ label: 'unknown', text: unknown, tone: 'quiet' });
  return { kind: 'facts', id: 'comparability', title: 'Comparability', facts };
}

const LISTED = 6;

/** Phases and batch mixes only one side has. */
export function mixFacts({ from, to, phases, onlyFrom, onlyTo }: Comparison): Block[] {
  const facts: Fact[] = [];
  const add = (name: string, what: readonly string[]) => {
    if (what.length === 0) return;
    const more = what.length > LISTED ? `; ${formatCount(what.length - LISTED)} more` : '';
    facts.push({ label: `only ${name}`, text: `${what.slice(0, LISTED).join('; ')}${more}` });
  };
  const words = (list: Comparison['onlyFrom']) =>
    list.map(phase => (phase === null ? 'time outside steps' : `${phaseLook(phase).label} steps`));
  // Where hardly a mix is shared all steps are compared, so that none is left out.
  const mixes = (side: 'onlyFrom' | 'onlyTo') =>
    phases
      .filter(phase => !phase.mixesDiffer)
      .flatMap(phase =>
        phase[side].map(mix => `${phaseLook(phase.phase).label}: ${mix || 'no batch recorded'}`),
      );
  add(from.name, [...words(onlyFrom), ...mixes('onlyFrom')]);
  add(to.name, [...words(onlyTo), ...mixes('onlyTo')]);
  return facts.length > 0 ? [{ kind: 'facts', id: 'only-one-side', title: 'On one side only', facts }] : [];
}

/** What was lost while reading either side. */
export function notesFacts({ from, to }: Comparison): Block[] {
  const facts = [from, to].flatMap(({ name, runs }) =>
    runs.flatMap(({ profile }) =>
      profile.notes
        .filter(note => note.severity !== 'info')
        .map(
          ({ count, text, example, severity }): Fact => ({
            label: name,
            text: `${formatCount(count)} ${text}${example ? ` (e.g. ${example})` : ''}`,
            ...(severity === 'loss' ? { tone: 'bad' as const } : {}),
          }),
        ),
    ),
  );
  return facts.length > 0 ? [{ kind: 'facts', id: 'notes', title: plural(facts.length, 'note'), facts }] : [];
}
