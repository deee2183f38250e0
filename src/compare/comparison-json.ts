/** A comparison for machines: one versioned document. docs/schemas/compare.schema.json describes it. */
import type { Json } from '../analyze/analysis.js';
import type { Configuration } from '../run/run.js';
import { effectOf } from './comparability.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import type { RowSide, Term } from './term-rows.js';

export const COMPARE_SCHEMA = 'stepscope-compare/1';

export function comparisonDocument(comparisons: readonly Comparison[], threshold: number): Json {
  return {
    schema: COMPARE_SCHEMA,
    threshold,
    base: configurationJson(comparisons[0].from),
    comparisons: comparisons.map(comparisonJson),
  };
}

const configurationJson = ({ name, runs }: Configuration): Json => ({
  name,
  runs: runs.map(run => ({
    files: run.files,
    steps: run.profile.capture.steps,
    selectedSteps: run.profile.capture.selectedSteps,
    notes: run.profile.notes.map(({ code, severity, text, count, example }) => ({
      code,
      severity,
      text,
      count,
      example,
    })),
  })),
});

const comparisonJson = (comparison: Comparison): Json => ({
  to: configurationJson(comparison.to),
  comparable: comparison.comparable,
  runToRunNoiseMeasured: comparison.runsMeasured,
  checks: comparison.checks.map(check => {
    const [from, to] = check.values.map(value => value ?? 'not recorded');
    const effect = effectOf(check);
    const why = effect === 'none' ? '' : check.why;
    return { id: check.id, label: check.label, from, to, status: check.status, effect, why };
  }),
  phasesOnlyInBase: comparison.onlyFrom.map(String),
  phasesOnlyInTo: comparison.onlyTo.map(String),
  phases: comparison.phases.map(phaseJson),
});

function phaseJson(phase: PhaseComparison): Json {
  const side = (name: 'from' | 'to'): Json => ({
    meanNs: phase[name].wallNs,
    steps: phase[name].steps,
    windows: phase[name].windows,
    stepNs: phase.stepNs[name],
  });
  return {
    phase: phase.phase,
    mixes: phase.mixes.map(({ mix, weight }) => ({ mix, weight })),
    mixesOnlyInBase: phase.onlyFrom,
    mixesOnlyInTo: phase.onlyTo,
    from: side('from'),
    to: side('to'),
    changeNs: phase.changeNs,
    changeShare: phase.changeShare,
    interval95: phase.interval ? { lowNs: phase.interval[0], highNs: phase.interval[1] } : null,
    noiseFloorNs: phase.noiseFloorNs ?? null,
    tracingFloorNs: phase.tracingFloorNs ?? null,
    verdict: phase.verdict,
    terms: phase.terms.map(termJson),
    families: phase.families.map(row => ({ ...row })),
    figures: phase.figures.map(row => ({ ...row })),
    layers: phase.layers.map(row => ({ ...row })),
  };
}

function termJson({ color: _, rows, ...term }: Term): Json {
  const side = (value: RowSide | null): Json => (value ? { ...value } : null);
  return {
    ...term,
    rows: rows.map(row => ({ from: side(row.from), to: side(row.to), changeNs: row.changeNs })),
  };
}

/** One line per term: what a spreadsheet needs. */
export const csvFields = [
  'to',
  'phase',
  'term',
  'kind',
  'of',
  'label',
  'fromNs',
  'toNs',
  'changeNs',
  'fromCount',
  'toCount',
] as const;

export function termsTable(comparisons: readonly Comparison[]): (string | number | null)[][] {
  return comparisons.flatMap(({ to, phases }) =>
    phases.flatMap(({ phase, terms }) =>
      terms.map(term => [
        ...[to.name, phase, term.key, term.kind, term.of, term.label, term.fromNs, term.toNs, term.changeNs],
        ...[term.fromCount, term.toCount],
      ]),
    ),
  );
}
