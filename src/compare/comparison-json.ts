/** A comparison for machines: one versioned document. docs/schemas/compare.schema.json describes it. */
import type { Static } from '../base/document.js';
import type { Configuration } from '../run/run.js';
import { effectOf } from './comparability.js';
import type { Comparison, PhaseComparison } from './compare-configurations.js';
import type { compareSchema, comparisonSchema, phaseSchema, termSchema } from './compare-schema.js';
import type { Term } from './term-rows.js';

type CompareDocument = Static<typeof compareSchema>;

export function comparisonDocument(comparisons: readonly Comparison[], threshold: number): CompareDocument {
  return {
    schema: 'stepscope-compare/1',
    threshold,
    base: configurationJson(comparisons[0].from),
    comparisons: comparisons.map(comparisonJson),
  };
}

const configurationJson = ({ name, runs }: Configuration): CompareDocument['base'] => ({
  name,
  runs: runs.map(run => ({
    files: run.files,
    steps: run.profile.capture.steps,
    selectedSteps: run.profile.capture.selectedSteps,
    notes: run.profile.notes,
  })),
});

const comparisonJson = (comparison: Comparison): Static<typeof comparisonSchema> => ({
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

function phaseJson(phase: PhaseComparison): Static<typeof phaseSchema> {
  const side = (name: 'from' | 'to') => ({
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
    families: phase.families,
    figures: phase.figures,
    layers: phase.layers,
  };
}

const termJson = ({ color: _, ...term }: Term): Static<typeof termSchema> => term;

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
