/** What an event's numeric arguments mean, where a plain number is not enough. */
import { NONE } from '../../../base/column.js';
import { Arg } from './event-keys.js';

/** CUPTI counts in 32 bits. */
export const MAX_CORRELATION = 0xffffffff;

export function correlationOf(numbers: Float64Array): number {
  const id = numbers[Arg.correlation];
  return id > 0 && id <= MAX_CORRELATION ? id : 0;
}

/** Where no op is behind an event, Kineto repeats the correlation as external id: that links to nothing. */
export function linkedExternalId(numbers: Float64Array): number {
  const id = numbers[Arg.externalId];
  return id === numbers[Arg.correlation] ? Number.NaN : id;
}

/** Kineto writes 0 for work outside graphs. */
export function graphNumber(value: number): number {
  return value === 0 ? Number.NaN : value;
}

export function wholeOrNone(value: number): number {
  // False for NaN too.
  return Math.abs(value) <= 0x7fffffff ? Math.trunc(value) : NONE;
}
