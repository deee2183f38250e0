/**
 * The clock of all measurements: nanoseconds since the process began to measure, monotonic, unmoved by corrections of
 * the wall clock. As a number it is exact for 104 days.
 */
const origin = process.hrtime.bigint();

export const nowNs = (): number => Number(process.hrtime.bigint() - origin);

export const NS_PER_MS = 1e6;
export const NS_PER_SECOND = 1e9;
