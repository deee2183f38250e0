/** Steps that no profiler recorded: rows of the table `quietSteps` as values, and back. */
import type { AnyArray } from '../base/column.js';
import type { StringTable } from '../base/string-table.js';
import type { ProfileBuilder } from '../model/builder.js';
import type { Profile } from '../model/profile.js';
import type { QuietSource } from '../model/schema.js';

/** A profiler that was just stopped still writes: the first steps after a window are not undisturbed. */
export const SETTLING_STEPS = 8;

export interface QuietStep {
  readonly process: number;
  readonly source: (typeof QuietSource)[keyof typeof QuietSource];
  readonly iteration: number;
  readonly phase: string;
  readonly contextRequests: number;
  readonly contextTokens: number;
  readonly generationRequests: number;
  readonly generationTokens: number;
  readonly periodNs: number;
  readonly deviceNs?: number;
  readonly utcNs?: number;
}

export function addQuietSteps(builder: ProfileBuilder, steps: readonly QuietStep[]): void {
  builder.addTable('quietSteps', columnsFor(steps, builder.strings), steps.length);
}

/** More of them in a profile that is already built. Strings only ever get added, so other rows keep their names. */
export function withQuietSteps(profile: Profile, added: readonly QuietStep[]): Profile {
  if (added.length === 0) return profile;
  const steps = [...quietStepsOf(profile), ...added];
  const { deviceNs, utcNs, ...columns } = columnsFor(steps, profile.strings);
  const quietSteps = {
    length: steps.length,
    ...columns,
    ...(steps.some(step => step.deviceNs !== undefined) ? { deviceNs } : {}),
    ...(steps.some(step => step.utcNs !== undefined) ? { utcNs } : {}),
  };
  return { ...profile, tables: { ...profile.tables, quietSteps: quietSteps as never } };
}

type Cells = Record<Exclude<keyof QuietStep, 'deviceNs' | 'utcNs'>, AnyArray> & {
  readonly deviceNs?: AnyArray;
  readonly utcNs?: AnyArray;
};

export function quietStepsOf({ tables: { quietSteps }, strings }: Profile): QuietStep[] {
  const cells = quietSteps as unknown as Cells;
  return Array.from({ length: quietSteps?.length ?? 0 }, (_, row) => {
    const deviceNs = cells.deviceNs?.[row] ?? Number.NaN;
    const utcNs = cells.utcNs?.[row] ?? Number.NaN;
    return {
      process: cells.process[row],
      source: cells.source[row] as QuietStep['source'],
      iteration: cells.iteration[row],
      phase: strings.text(cells.phase[row] as never),
      contextRequests: cells.contextRequests[row],
      contextTokens: cells.contextTokens[row],
      generationRequests: cells.generationRequests[row],
      generationTokens: cells.generationTokens[row],
      periodNs: cells.periodNs[row],
      ...(Number.isNaN(deviceNs) ? {} : { deviceNs }),
      ...(Number.isNaN(utcNs) ? {} : { utcNs }),
    };
  });
}

function columnsFor(steps: readonly QuietStep[], strings: StringTable) {
  const numbers = (key: Exclude<keyof QuietStep, 'phase'>) =>
    Float64Array.from(steps, step => step[key] ?? Number.NaN);
  return {
    process: Int32Array.from(steps, step => step.process),
    source: Uint8Array.from(steps, step => step.source),
    iteration: numbers('iteration'),
    phase: Int32Array.from(steps, step => strings.intern(step.phase)),
    contextRequests: numbers('contextRequests'),
    contextTokens: numbers('contextTokens'),
    generationRequests: numbers('generationRequests'),
    generationTokens: numbers('generationTokens'),
    periodNs: numbers('periodNs'),
    deviceNs: numbers('deviceNs'),
    utcNs: numbers('utcNs'),
  };
}
