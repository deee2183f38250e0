/**
 * How far apart two colours look: CIEDE2000 (Sharma, Wu and Dalal 2005), and how someone without green cones sees them
 * (Machado, Oliveira and Fernandes 2009, deuteranopia, severity 1).
 */
type Triple = readonly [number, number, number];

const channels = (color: string): Triple =>
  [1, 3, 5].map(at => Number.parseInt(color.slice(at, at + 2), 16)) as unknown as Triple;

function linear(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function gamma(light: number): number {
  const value = Math.min(1, Math.max(0, light));
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
}

const deuteranopia: readonly Triple[] = [
  [0.367322, 0.860646, -0.227968],
  [0.280085, 0.672501, 0.047413],
  [-0.01182, 0.04294, 0.968881],
];

export function withoutGreenCones(color: string): string {
  const [r, g, b] = channels(color).map(linear);
  const seen = deuteranopia.map(([x, y, z]) => gamma(x * r + y * g + z * b));
  return `#${seen.map(value => value.toString(16).padStart(2, '0')).join('')}`;
}

/** CIELAB under D65. */
function labOf(color: string): Triple {
  const [r, g, b] = channels(color).map(linear);
  const part = (t: number) => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = part((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = part(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = part((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const rad = Math.PI / 180;
/** The chroma at which blues begin to count less, to the seventh power. */
const FAR = 25 ** 7;
const faded = (chroma: number) => Math.sqrt(chroma ** 7 / (chroma ** 7 + FAR));

export const colorDistance = (one: string, other: string): number => labDistance(labOf(one), labOf(other));

export function labDistance([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const stretch = 1 + 0.5 * (1 - faded((Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2));
  const c1 = Math.hypot(a1 * stretch, b1);
  const c2 = Math.hypot(a2 * stretch, b2);
  const hue = (a: number, b: number) => (Math.atan2(b, a) / rad + 360) % 360;
  const h1 = hue(a1 * stretch, b1);
  const h2 = hue(a2 * stretch, b2);
  const isGray = c1 * c2 === 0;
  const turn = isGray ? 0 : ((h2 - h1 + 540) % 360) - 180;
  const meanHue = isGray ? h1 + h2 : (h1 + turn / 2 + 360) % 360;
  const meanLight = (l1 + l2) / 2;
  const meanChroma = (c1 + c2) / 2;
  const cos = (times: number, shift: number) => Math.cos((times * meanHue + shift) * rad);
  const t = 1 - 0.17 * cos(1, -30) + 0.24 * cos(2, 0) + 0.32 * cos(3, 6) - 0.2 * cos(4, -63);
  const light = (l2 - l1) / (1 + (0.015 * (meanLight - 50) ** 2) / Math.sqrt(20 + (meanLight - 50) ** 2));
  const chroma = (c2 - c1) / (1 + 0.045 * meanChroma);
  const shift = (2 * Math.sqrt(c1 * c2) * Math.sin((turn / 2) * rad)) / (1 + 0.015 * meanChroma * t);
  const rotation = -Math.sin(60 * Math.exp(-(((meanHue - 275) / 25) ** 2)) * rad) * 2 * faded(meanChroma);
  return Math.sqrt(light ** 2 + chroma ** 2 + shift ** 2 + rotation * chroma * shift);
}
