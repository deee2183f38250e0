/** Ticks of the time axis: round steps, labelled with as many digits as they need. */

export interface Tick {
  readonly ns: number;
  readonly label: string;
}

/** `zeroNs` is the moment that counts as 0; `width` in pixels. */
export function ticksOf(fromNs: number, toNs: number, width: number, zeroNs: number): Tick[] {
  const apart = ((toNs - fromNs) / Math.max(1, width)) * 110;
  const power = 10 ** Math.floor(Math.log10(Math.max(apart, 1)));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(candidate => candidate >= apart)!;
  const first = Math.ceil((fromNs - zeroNs) / step);
  const last = Math.floor((toNs - zeroNs) / step);
  const largest = Math.max(Math.abs(first), Math.abs(last)) * step;
  const [unit, ns] =
    largest >= 1e9 ? ['s', 1e9] : largest >= 1e6 ? ['ms', 1e6] : largest >= 1e3 ? ['µs', 1e3] : ['ns', 1];
  const digits = Math.max(0, Math.ceil(Math.log10((ns as number) / step) - 1e-9));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const at = (first + i) * step;
    return { ns: zeroNs + at, label: `${(at / (ns as number)).toFixed(digits)} ${unit}` };
  });
}
