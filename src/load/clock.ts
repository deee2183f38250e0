/**
 * The clock of all measurements: nanoseconds since the process began to measure, monotonic, unmoved by corrections of
 * the wall clock. As a number it is exact for 104 days.
 */
const origin = process.hrtime.bigint();

export const nowNs = (): number => Number(process.hrtime.bigint() - origin);

export const NS_PER_MS = 1e6;
export const NS_PER_SECOND = 1e9;

/** A moment of this clock on the two clocks of the machine that other programs read, as strings: they exceed 2^53. */
export function onMachineClocks(ns: number): { readonly utcNs: string; readonly monotonicNs: string } {
  const ago = process.hrtime.bigint() - (origin + BigInt(Math.round(ns)));
  // Date.now has whole milliseconds; this sum has microseconds.
  const wallUs = Math.round((performance.timeOrigin + performance.now()) * 1e3);
  return {
    utcNs: String(BigInt(wallUs) * 1000n - ago),
    monotonicNs: String(origin + BigInt(Math.round(ns))),
  };
}
