/** Where things are in memory. What events/event-scanner.ts uses is exported again by event-scanner.ts. */

/**
 * What was found. Whole numbers: phase, flags, where the event ends, events passed over, and marks (from, to) of category,
 * name, pid and tid where they are texts, and the key of its shape (keyOfLast).
 */
export const FIELDS: i32 = 1024;
/** Fractions: pid, tid, id, microseconds, nanoseconds, duration. */
export const VALUES: i32 = 1152;
export const VALUE_BYTES: i32 = 48;
/** Numeric arguments, and room for one more. */
export const NUMBERS: i32 = 1216;
export const NUMBER_COUNT: i32 = 31;
export const NUMBER_BYTES: i32 = 256;
/** Marks of arguments that are text or nested: from, to, escaped. */
export const TEXTS: i32 = 1536;
export const TEXT_COUNT: i32 = 14;

/** Three tables of keys: slots of 64 bytes, in which are meaning, length and the key. */
export const EVENT_KEYS: i32 = 8192;
export const CATEGORIES: i32 = 16384;
export const ARGUMENT_KEYS: i32 = 24576;
export const SLOTS: i32 = 128;
export const ARGUMENT_SLOTS: i32 = 512;

/** Shapes of events, and tables that lead to them (event-shapes.ts). */
export const HOLES: i32 = 57344;
export const BY_CONTENT: i32 = 65536;
export const BY_LAST: i32 = 81920;
export const BY_FEW: i32 = 98304;
export const BY_MANY: i32 = 114688;
export const RECENT: i32 = 131072;
export const SHAPES: i32 = 262144;
export const SHAPE_BYTES: i32 = 3072;
export const MAX_SHAPES: i32 = 2048;

/** The bytes to be scanned. */
export const INPUT: i32 = 6553600;

/** Flags of an event; all of them where nobody wants it. */
export const HAS_TIME: i32 = 1;
export const HAS_DURATION: i32 = 2;
export const HAS_ARGUMENTS: i32 = 4;
export const HAS_TEXTS: i32 = 8;
export const WORD_AS_PID: i32 = 16;
export const WORD_AS_TID: i32 = 32;
export const ESCAPED_NAME: i32 = 64;
export const UNWANTED: i32 = -1;
