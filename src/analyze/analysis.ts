/**
 * The contract of an analysis: one question, answered from a Profile, as rows of plain numbers and as words. A new
 * analysis is one file and one line in index.ts; command, JSON, CSV, schema and page follow from its `fields`.
 */
import { brand, isBranded, UserError } from '../base/user-error.js';
import { capabilities } from '../catalog/capabilities.js';
import { findGpu } from '../catalog/gpus.js';
import type { KernelRule } from '../catalog/kernels/rule.js';
import type { Phase } from '../catalog/phases.js';
import type { Policy } from '../catalog/policy.js';
import type { Profile } from '../model/profile.js';
import type { TableName } from '../model/schema.js';
import type { Block, ColumnKind } from './block.js';
import type { CapturedGraph } from './captured-graph.js';
import type { WantedTables } from './wanted-tables.js';

export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** What the user chose to look at and how. */
export interface Settings {
  /** The whole trace instead of the steady state. */
  readonly whole?: boolean;
  /** Only these steps by their position in the capture, first and last included; goes before `iterations`. */
  readonly steps?: { readonly first: number; readonly last: number };
  /** Only these iterations, first and last included. */
  readonly iterations?: readonly { readonly first: number; readonly last: number }[];
  readonly phase?: Phase;
  /** This stretch of time, whatever steps lie in it. */
  readonly during?: { readonly fromNs: number; readonly toNs: number };
  /** The user's own step marker, with the named groups of the catalogue's grammars. */
  readonly marker?: RegExp;
  /** What TLLM_PROFILE_START_STOP was set to, for telling whether its end was included. */
  readonly requested?: { readonly first: number; readonly last: number };
  /** The user's own kernel rules, tried before the catalogue's. */
  readonly kernelRules?: readonly KernelRule[];
  /** A model's config.json, parsed as JSON. */
  readonly model?: Json;
  /** Thresholds of the findings. */
  readonly policy?: Policy;
  /** The results are being written down (stepscope report). */
  readonly documented?: true;
  /** Ways the weights are split over GPUs; read from the ranks when not given. */
  readonly tensorParallel?: number;
  /** Graphs of a trace of their capture, which say what operators replays run. */
  readonly capturedGraphs?: readonly CapturedGraph[];
  /** Name of the GPUs that the capture does not name. */
  readonly gpu?: string;
}

export interface AnalysisInput {
  readonly profile: Profile;
  readonly settings: Settings;
  /** Another's result, computed once. It must be listed in `uses`. Throws NotRecorded when that could not answer. */
  use<Result>(other: Derived<Result>): Result;
  /** The same, but undefined when that could not answer. */
  useIfRecorded<Result>(other: Derived<Result>): Result | undefined;
}

/** Something computed from a Profile that several analyses share. */
export interface Derived<Result> {
  readonly id: string;
  /** Tables it reads itself, and which of their optional columns. */
  readonly reads: WantedTables;
  readonly uses: readonly Derived<unknown>[];
  /** The result is another one when the user looks at other steps. */
  readonly followsSelection?: true;
  /** Of each group at least one table must have been recorded. */
  readonly needs?: readonly (readonly TableName[])[];
  compute(input: AnalysisInput): Result;
}

export interface AnalysisResult<Row> {
  readonly rows: readonly Row[];
  /** Figures about all rows together. */
  readonly summary?: { readonly [name: string]: Json };
}

/** How a field of a row is read: for tables, CSV, the JSON schema and the documentation. */
export interface Field {
  readonly header: string;
  /** `map-ns`: an object of nanoseconds by name. `list`: an array of objects, in JSON only. */
  readonly kind: ColumnKind | 'flag' | 'map-ns' | 'list';
  readonly about: string;
  /** May be null: not known or not recorded. */
  readonly optional?: true;
  /** Not in the table for people; JSON and CSV have it. */
  readonly quiet?: true;
  /** See TableColumn. */
  readonly priority?: number;
  /** Of a list: the member that is drawn as the height of small bars, where a table can be drawn. */
  readonly drawn?: string;
}

export interface Analysis<Row extends { readonly key: string }, Result extends AnalysisResult<Row>>
  extends Derived<Result> {
  readonly title: string;
  readonly question: string;
  readonly fields: { readonly [Name in keyof Row]-?: Field };
  /** One line on the page about the phase that takes most time (null: the whole trace). */
  readonly headline?: {
    readonly label: string;
    text(result: Result, phase: Phase | null): string | undefined;
  };
  /** Runs only where it is asked for by its id: it reads much of a file, or shows what few look for. */
  readonly onlyAsked?: true;
  /** Words and tables; without it the rows become one table. */
  describe?(result: Result, profile: Profile): Block[];
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds analyses of all kinds of rows
export type AnyAnalysis = Analysis<any, any>;

/** The capture cannot answer. `what` follows "not recorded:", `hint` says what to capture. */
export class NotRecorded extends Error {
  /** A plugin may bring a copy of this class along. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return isBranded(value, 'NotRecorded');
  }

  readonly [brand] = 'NotRecorded';

  constructor(
    readonly what: string,
    readonly hint: string,
    /** It was recorded, and the file is damaged there. */
    readonly damaged = false,
    /** It would have been recorded: nothing of the kind happened. */
    readonly none = false,
  ) {
    super(`${damaged ? 'damaged' : none ? 'none' : 'not recorded'}: ${what}`);
  }
}

export type Outcome =
  | { readonly status: 'ok'; readonly analysis: AnyAnalysis; readonly result: AnalysisResult<never> }
  | {
      readonly status: 'not-recorded';
      readonly analysis: AnyAnalysis;
      readonly what: string;
      readonly hint: string;
      readonly damaged: boolean;
    }
  | { readonly status: 'failed'; readonly analysis: AnyAnalysis; readonly message: string };

/** Everything an analysis and what it uses will read. */
export function tablesReadBy(analyses: readonly Derived<unknown>[]): Map<TableName, string[]> {
  const tables = new Map<TableName, string[]>();
  const seen = new Set<Derived<unknown>>();
  const visit = (derived: Derived<unknown>) => {
    if (seen.has(derived)) return;
    seen.add(derived);
    for (const [table, columns] of Object.entries(derived.reads) as [TableName, readonly string[]][])
      tables.set(table, [...(tables.get(table) ?? []), ...columns]);
    derived.uses.forEach(visit);
  };
  analyses.forEach(visit);
  return tables;
}

/** A result and all that it is made of, each after what it uses. */
export function inOrderOfUse(derived: Derived<unknown>): Iterable<Derived<unknown>> {
  const seen = new Set<Derived<unknown>>();
  const visit = (own: Derived<unknown>) => {
    if (seen.has(own)) return;
    own.uses.forEach(visit);
    seen.add(own);
  };
  visit(derived);
  return seen;
}

/** Computes analyses over one profile, each shared result once. A failure stays with the analysis it happened in. */
export class Analyzer {
  private readonly done = new Map<Derived<unknown>, { value?: unknown; error?: unknown }>();
  private readonly promised = new Map<Derived<unknown>, { take(): unknown; isHere(): boolean }>();

  readonly profile: Profile;

  constructor(
    profile: Profile,
    readonly settings: Settings = {},
    private readonly wider?: Analyzer,
  ) {
    this.profile = settings.gpu === undefined ? profile : withNamedGpus(profile, settings.gpu);
  }

  /** The same profile, other steps or another time. What does not depend on which steps are looked at is computed once for both. */
  lookingAt({ steps, iterations, phase, whole, during }: Settings): Analyzer {
    return new Analyzer(this.profile, { ...this.settings, steps, iterations, phase, whole, during }, this);
  }

  run(analysis: AnyAnalysis): Outcome {
    try {
      return { status: 'ok', analysis, result: this.get(analysis) };
    } catch (error) {
      if (error instanceof NotRecorded)
        return {
          status: 'not-recorded',
          analysis,
          what: error.what,
          hint: error.hint,
          damaged: error.damaged,
        };
      // The user can mend this one: it is not the analysis that failed.
      if (error instanceof UserError) throw error;
      return { status: 'failed', analysis, message: (error as Error).message };
    }
  }

  get<Result>(derived: Derived<Result>): Result {
    if (this.wider && !followsSelection(derived)) return this.wider.get(derived);
    let known = this.done.get(derived);
    if (!known) {
      known = {};
      this.done.set(derived, known);
      try {
        this.requireTables(derived);
        known.value = this.promised.get(derived)?.take() ?? derived.compute(this.inputFor(derived));
      } catch (error) {
        known.error = error;
      }
    }
    if (known.error !== undefined) throw known.error;
    return known.value as Result;
  }

  /**
   * Somebody else is computing this result, or has: `take` gives it when it is asked for. Undefined: they could not.
   * `isHere`: it need not be waited for.
   */
  promise<Result>(derived: Derived<Result>, take: () => Result | undefined, isHere = () => true): void {
    this.promised.set(derived, { take, isHere });
  }

  /** Whether asking for it now would wait for somebody else. */
  awaits(derived: Derived<unknown>, seen = new Set<Derived<unknown>>()): boolean {
    if (this.done.has(derived) || seen.has(derived)) return false;
    seen.add(derived);
    const promise = this.promised.get(derived);
    return promise ? !promise.isHere() : derived.uses.some(used => this.awaits(used, seen));
  }

  /** Computes it for those who ask later; what fails, fails for them. */
  anticipate(derived: Derived<unknown>): void {
    try {
      this.get(derived);
    } catch {
      // Kept, and thrown where it is asked for.
    }
  }

  /** Undefined where the capture cannot answer. */
  getIfRecorded<Result>(derived: Derived<Result>): Result | undefined {
    try {
      return this.get(derived);
    } catch (error) {
      if (error instanceof NotRecorded) return undefined;
      throw error;
    }
  }

  private inputFor(user: Derived<unknown>): AnalysisInput {
    const use = <Result>(other: Derived<Result>): Result => {
      if (!user.uses.includes(other)) throw new Error(`${user.id} does not list ${other.id} in its uses`);
      return this.get(other);
    };
    return {
      profile: this.profile,
      settings: this.settings,
      use,
      useIfRecorded: other => {
        try {
          return use(other);
        } catch (error) {
          if (error instanceof NotRecorded) return undefined;
          throw error;
        }
      },
    };
  }

  private requireTables({ needs = [] }: Derived<unknown>): void {
    const missing = needs.find(group => !group.some(table => this.profile.tables[table]));
    if (missing) throw notRecorded(this.profile, missing);
  }
}

const following = new Map<Derived<unknown>, boolean>();

/** Whether a result, or anything it uses, is about the selected steps alone. */
function followsSelection(derived: Derived<unknown>): boolean {
  let answer = following.get(derived);
  if (answer === undefined) {
    answer = derived.followsSelection === true || derived.uses.some(followsSelection);
    following.set(derived, answer);
  }
  return answer;
}

/** Says which table is missing and how to record it with the profiler the file came from. */
export function notRecorded(profile: Profile, missing: readonly TableName[]): NotRecorded {
  const abilities = capabilities(profile).filter(known => missing.includes(known.table));
  const ability =
    abilities.find(known => known.damaged) ?? abilities.find(({ table }) => table === missing[0]);
  if (ability?.damaged) return new NotRecorded(ability.label, ability.hint, true);
  if (missing.includes('kernels')) {
    return new NotRecorded(
      'GPU work',
      `${ability?.hint}, around the process that runs the model (not its client)`,
    );
  }
  return new NotRecorded(ability?.label ?? missing[0], ability?.hint ?? '', false, ability?.none);
}

/** A name in the file that means something wins; a slice of a GPU is not the whole one, whatever it is called. */
function withNamedGpus(profile: Profile, name: string): Profile {
  const isKnown = (given: string) => findGpu(given) !== undefined || /\bMIG\b/.test(given);
  const gpus = profile.gpus.map(gpu => (isKnown(gpu.name) ? gpu : { ...gpu, name }));
  return { ...profile, gpus };
}
