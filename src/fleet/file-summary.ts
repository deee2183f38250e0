/**
 * What a report needs of every file, as sums: kept in the file's record next to its place in the lake, because opening
 * ten thousand small tables costs seconds, and reading ten thousand short texts does not.
 */
import type { LakeRow, LakeRows } from './lake-tables.js';

/** A device of a rank in one phase, over the steps of the file. */
export interface UnitSummary {
  readonly phase: string;
  /** Of the process, in a file that holds several. */
  readonly processRank: number | null;
  readonly device: number;
  readonly steps: number;
  readonly wallNs: number;
  readonly computeNs: number;
  readonly communicationNs: number;
  readonly copyNs: number;
  readonly idleNs: number;
  /** Part of computeNs: graph replays recorded as blocks, which hide communication. */
  readonly graphReplayNs: number;
  /** Requests that decode, and prompt tokens: sums, and steps that state them. */
  readonly requests: number;
  readonly requestSteps: number;
  readonly tokens: number;
  readonly tokenSteps: number;
}

export interface FileSummary {
  /** The row of `files`; `originUtcNs` as text, since JSON has no number of that length. */
  readonly facts: Omit<LakeRow<'files'>, 'originUtcNs'> & { readonly originUtcNs: string | null };
  readonly units: readonly UnitSummary[];
  readonly findings: LakeRows['findings'];
}

export function summaryOf({ files: [row], steps, findings }: LakeRows): FileSummary {
  const units = new Map<string, UnitSummary>();
  for (const step of steps) {
    const key = `${step.phase}/${step.processRank}/${step.device}`;
    const known = units.get(key);
    units.set(key, known ? added(known, step) : added(emptyUnit(step), step));
  }
  return {
    facts: { ...row, originUtcNs: row.originUtcNs === null ? null : String(row.originUtcNs) },
    units: [...units.values()],
    findings,
  };
}

const emptyUnit = ({ phase, processRank, device }: LakeRow<'steps'>): UnitSummary => ({
  ...{
    phase,
    processRank,
    device,
    steps: 0,
    wallNs: 0,
    computeNs: 0,
    communicationNs: 0,
    copyNs: 0,
    idleNs: 0,
  },
  ...{ graphReplayNs: 0, requests: 0, requestSteps: 0, tokens: 0, tokenSteps: 0 },
});

const added = (unit: UnitSummary, step: LakeRow<'steps'>): UnitSummary => ({
  ...unit,
  steps: unit.steps + 1,
  wallNs: unit.wallNs + step.wallNs,
  computeNs: unit.computeNs + step.computeNs,
  communicationNs: unit.communicationNs + step.communicationExposedNs,
  copyNs: unit.copyNs + step.copyExposedNs,
  idleNs: unit.idleNs + step.idleNs,
  graphReplayNs: unit.graphReplayNs + step.graphReplayNs,
  requests: unit.requests + (step.generationRequests ?? 0),
  requestSteps: unit.requestSteps + (step.generationRequests === null ? 0 : 1),
  tokens: unit.tokens + (step.contextTokens ?? 0),
  tokenSteps: unit.tokenSteps + (step.contextTokens === null ? 0 : 1),
});
