/** Maps files into a lake with one of the engines, and says what became of each of them. */
import type { Static } from '../base/document.js';
import type { fleetMapSchema } from './fleet-schema.js';
import { type ContentClaim, Lake } from './lake.js';
import type { MapOutcome, MapTask } from './map-file.js';
import type { SourceFile } from './source-files.js';

export interface MapRequest {
  readonly files: readonly SourceFile[];
  readonly passedOver: readonly string[];
  readonly lake: string;
  readonly run?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly tool: string;
}

export interface MapResult {
  readonly request: MapRequest;
  /** In order of path. */
  readonly outcomes: readonly MapOutcome[];
}

/** Maps files that are not in the lake yet; tells the outcome of each. */
export type MapEngine = (
  files: readonly SourceFile[],
  request: MapRequest,
  onDone: (outcome: MapOutcome) => void,
) => Promise<void>;

export const taskOf =
  ({ lake, run, labels, tool }: MapRequest) =>
  ({ path }: SourceFile): MapTask => ({ path, lake, labels, tool, ...(run === undefined ? {} : { run }) });

export async function mapFiles(
  request: MapRequest,
  engine: MapEngine,
  onDone: (outcome: MapOutcome, done: number) => void,
): Promise<MapResult> {
  const lake = Lake.create(request.lake);
  lake.removeStaleDrafts();
  const claimOf = unchangedIn(lake);
  const outcomes: MapOutcome[] = [];
  const done = (outcome: MapOutcome) => {
    outcomes.push(outcome);
    onDone(outcome, outcomes.length);
  };
  const fresh: SourceFile[] = [];
  for (const file of request.files) {
    const claim = claimOf(file);
    if (claim) done({ status: 'already', path: file.path, partition: claim.partition });
    else fresh.push(file);
  }
  if (fresh.length > 0) await engine(fresh, request, done);
  outcomes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { request, outcomes };
}

/** A file that did not change since it was mapped is not read again, not even for its hash. */
export function unchangedIn(lake: Lake): (file: SourceFile) => ContentClaim | undefined {
  const known = new Map(lake.claims().map(claim => [claim.path, claim]));
  return ({ path, bytes, mtimeMs }) => {
    const claim = known.get(path);
    return claim?.bytes === bytes && claim.mtimeMs === mtimeMs ? claim : undefined;
  };
}

export const countOf = ({ outcomes }: MapResult, status: MapOutcome['status']): number =>
  outcomes.filter(outcome => outcome.status === status).length;

export function mapDocument(result: MapResult, engine: string): Static<typeof fleetMapSchema> {
  const { request, outcomes } = result;
  return {
    schema: 'stepscope-fleet-map/1',
    tool: request.tool,
    lake: request.lake,
    engine,
    files: request.files.length,
    mapped: countOf(result, 'mapped'),
    already: countOf(result, 'already'),
    passedOver: request.passedOver.length,
    broken: outcomes.flatMap(outcome => {
      if (outcome.status !== 'broken') return [];
      const { path, code, message, hint } = outcome.broken;
      return [{ path, code, message, hint }];
    }),
    partitions: outcomes.flatMap(outcome =>
      outcome.status === 'broken'
        ? []
        : [{ path: outcome.path, status: outcome.status, partition: outcome.partition }],
    ),
  };
}
