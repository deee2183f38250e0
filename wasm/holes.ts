/** Where in the event that is being read the numbers are that differ from one event to the next (event-shapes.ts). */
import { HOLES } from './layout';

/** What a hole holds: a number that nobody reads, a time, a duration, an id, or from ARGUMENT on a numeric argument. */
export const ANY: i32 = 0;
export const TIME: i32 = 1;
export const DURATION: i32 = 2;
export const ID: i32 = 3;
export const ARGUMENT: i32 = 4;

/**
 * Arguments that count or address things: correlation, external id, bytes, graph node, Python id and parent, address, totals,
 * awaited event, number of a message. All others are the same for all events of a shape (events/event-reader.ts).
 */
const VARYING: u32 =
  (1 << 3) |
  (1 << 4) |
  (1 << 5) |
  (1 << 9) |
  (1 << 11) |
  (1 << 12) |
  (1 << 15) |
  (1 << 16) |
  (1 << 17) |
  (1 << 18) |
  (1 << 28);

/** In memory: from, to, what it holds. */
export const HOLE_BYTES: i32 = 12;
export const MAX_HOLES: i32 = 24;
/** A short number is often always the same, so it is no hole. */
const SHORT: i32 = 4;

/** How many there are; those beyond MAX_HOLES are only counted. */
export let holes: i32 = 0;

export function clearHoles(): void {
  holes = 0;
}

export function addHole(from: i32, to: i32, holds: i32): void {
  if ((holds === ANY || holds >= ARGUMENT) && to - from < SHORT) return;
  if (holds >= ARGUMENT && ((VARYING >> (holds - ARGUMENT)) & 1) === 0) return;
  if (holes < MAX_HOLES) {
    const hole = HOLES + holes * HOLE_BYTES;
    store<i32>(hole, from);
    store<i32>(hole, to, 4);
    store<i32>(hole, holds, 8);
  }
  holes++;
}

/** The event has no shape that could tell what others mean. */
export function spoilShape(): void {
  holes = MAX_HOLES + 1;
}
