/** Tracks as the server holds them: what is drawn, and which row of which table each drawn event is. */
import type { TableName } from '../model/schema.js';
import type { AreaLevel } from './area-pyramid.js';
import type { LaneEvents, SliceLevel } from './slice-pyramid.js';
import type { PaletteName } from './wire.js';

/**
 * Where an event's row is found: `work` is the list of everything that ran on GPUs, `replays` holds the first piece of
 * work of each graph replay, `contextSwitches` the switch with which a thread got a CPU, `steps` and `idle` are made from
 * other results and have positions for rows.
 */
export type LaneSource =
  | 'work'
  | 'replays'
  | 'layers'
  | 'ranks'
  | 'steps'
  | 'idle'
  | Extract<TableName, HostTable>
  | Extract<TableName, 'contextSwitches'>;
export type HostTable = 'apiCalls' | 'ranges' | 'ops' | 'frames' | 'osCalls' | 'overheads' | 'syncs';

export interface LaneData extends LaneEvents {
  readonly source: LaneSource;
  readonly row: LaneRows;
}

/** The row of each event; where rows follow each other, that of the first: there may be millions. */
export type LaneRows = Int32Array | number;

export const rowAt = (rows: LaneRows, event: number): number =>
  typeof rows === 'number' ? rows + event : rows[event];

export interface SliceLane {
  readonly kind: 'slices';
  readonly data: LaneData;
  readonly levels: readonly SliceLevel[];
}

interface AreaLane {
  readonly kind: 'area';
  readonly levels: readonly AreaLevel[];
}

export type TrackLane = SliceLane | AreaLane;

export interface Track {
  readonly id: string;
  readonly group: string;
  readonly label: string;
  readonly palette: PaletteName;
  readonly lanes: readonly TrackLane[];
  readonly collapsed?: boolean;
  /** One slim row that stands for its group; the other tracks are folded away until asked for. */
  readonly isSummary?: true;
  readonly highest?: number;
  readonly unit?: '%' | 'bytes' | 'Hz';
}
