/** What is asked about one thing (a step, a gap, a kernel), answered as claims that each name their rows. */
import type { Analyzer, AnyAnalysis, Outcome } from '../analysis.js';

export type EvidenceRow = Readonly<Record<string, unknown>> & { readonly key: string };

interface Claim {
  readonly text: string;
  /** Rows it rests on, by the keys of their analysis. */
  readonly evidence: readonly { readonly analysis: string; readonly rows: readonly string[] }[];
}

export interface ExplainedThing {
  readonly about: string;
  readonly claims: readonly Claim[];
  /** The rows themselves. */
  readonly evidence: { readonly [analysis: string]: readonly EvidenceRow[] };
  /** What could not be answered, which does not mean that nothing is wrong there. */
  readonly notRecorded: readonly {
    readonly analysis: string;
    readonly what: string;
    readonly hint: string;
  }[];
}

/** Gathers claims and rows; what the capture cannot answer is kept apart. */
export class Explanations {
  private readonly claims: Claim[] = [];
  private readonly evidence = new Map<string, Map<string, EvidenceRow>>();
  private readonly missing: ExplainedThing['notRecorded'][number][] = [];

  constructor(private readonly about: string) {}

  /** Rows of an analysis; undefined where it could not answer. */
  rowsOf<Row extends { readonly key: string }>(
    analyzer: Analyzer,
    analysis: AnyAnalysis,
  ): readonly Row[] | undefined {
    const outcome: Outcome = analyzer.run(analysis);
    if (outcome.status === 'ok') return outcome.result.rows as readonly unknown[] as readonly Row[];
    const { id } = analysis;
    if (outcome.status === 'failed')
      this.missing.push({ analysis: id, what: outcome.message, hint: 'this is a bug' });
    else if (!this.missing.some(known => known.analysis === id))
      this.missing.push({ analysis: id, what: outcome.what, hint: outcome.hint });
    return undefined;
  }

  claim(text: string, analysis: AnyAnalysis, rows: readonly { readonly key: string }[]): void {
    this.claims.push({ text, evidence: [{ analysis: analysis.id, rows: rows.map(({ key }) => key) }] });
    const kept = this.evidence.get(analysis.id) ?? new Map<string, EvidenceRow>();
    for (const row of rows) kept.set(row.key, row as EvidenceRow);
    this.evidence.set(analysis.id, kept);
  }

  done(): ExplainedThing {
    const { about, claims, missing } = this;
    const evidence = Object.fromEntries([...this.evidence].map(([id, rows]) => [id, [...rows.values()]]));
    return { about, claims, evidence, notRecorded: missing };
  }
}
