/** What is asked of a trace, and what reading its events leaves, whether one thread read them or several. */
import type { TableName } from '../../../model/schema.js';
import type { Categories } from './categories.js';
import type { Unwanted } from './event-reader.js';
import type { Lanes } from './lanes.js';
import type { TraceNames } from './trace-names.js';
import type { TraceRows } from './trace-rows.js';

/** What is asked for. */
export interface Wanted {
  readonly unwanted: Unwanted;
  readonly tables?: ReadonlyMap<TableName, readonly string[]>;
}

export interface ReadTrace {
  readonly categories: Categories;
  readonly lanes: Lanes;
  readonly rows: TraceRows;
  readonly names: TraceNames;
  readonly events: number;
  /** The whole microsecond all times are counted from: that of the first event with a time. */
  readonly originMicros: number;
  /** Kineto's own statement of when it recorded. NaN when there is none. */
  readonly recordingStart: number;
  readonly recordingEnd: number;
}
