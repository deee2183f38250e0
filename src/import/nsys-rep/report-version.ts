/**
 * Which Nsight Systems wrote a report, read from its first bytes. A report begins with a fixed text, then a version
 * that ends at a full stop: `2023@4@4@54-234433681190v0.` since 2023.3, a bare build number such as `36398880.` in
 * the nsys that comes with Nsight Compute, plain `1.` from 2019 to 2023.2.
 */
export const REPORT_MAGIC = 'NVIDIA Tegra Profiler Report ';
/** Raw streams carry eight bytes of their own before the text. */
const STREAM_MAGIC = 'NVIDIA Nsight Systems Stream ';
const STREAM_OFFSET = 8;
const LONGEST_VERSION = 64;

export type ReportVersion =
  | { readonly kind: 'release'; readonly release: readonly number[] }
  | { readonly kind: 'build'; readonly build: string }
  /** Reports of 2019 to 2023.2 all say `1`. */
  | { readonly kind: 'before-2023.3' }
  | { readonly kind: 'unknown' };

export function isReport(head: Uint8Array): boolean {
  return asciiAt(head, 0, REPORT_MAGIC.length) === REPORT_MAGIC;
}

export function reportVersion(head: Uint8Array): ReportVersion {
  const text = /^[^.]*/.exec(asciiAt(head, REPORT_MAGIC.length, LONGEST_VERSION))![0];
  const release = /^(\d{4}(?:@\d+)+)(?:-\w+)?$/.exec(text);
  if (release) return { kind: 'release', release: release[1].split('@').map(Number) };
  if (text === '1') return { kind: 'before-2023.3' };
  return /^\d{5,12}$/.test(text) ? { kind: 'build', build: text } : { kind: 'unknown' };
}

/** The version a raw stream (.qdstrm) names, or undefined if it is not one. */
export function streamVersion(head: Uint8Array): ReportVersion | undefined {
  if (asciiAt(head, STREAM_OFFSET, STREAM_MAGIC.length) !== STREAM_MAGIC) return undefined;
  const text = asciiAt(head, STREAM_OFFSET + STREAM_MAGIC.length, LONGEST_VERSION);
  const release = /^\d{4}(?:\.\d+)+/.exec(text)?.[0];
  return release === undefined
    ? { kind: 'unknown' }
    : { kind: 'release', release: release.split('.').map(Number) };
}

/** In words, to follow "captured with". */
export function describeVersion(version: ReportVersion): string {
  switch (version.kind) {
    case 'release':
      return `Nsight Systems ${version.release.slice(0, 3).join('.')}`;
    case 'build':
      return `Nsight Systems build ${version.build}`;
    case 'before-2023.3':
      return 'Nsight Systems 2023.2 or older';
    case 'unknown':
      return 'an unknown version of Nsight Systems';
  }
}

/** What to install to read it, to follow "Install". */
export function describeReader(version: ReportVersion): string {
  switch (version.kind) {
    case 'release':
      return `Nsight Systems ${version.release.slice(0, 2).join('.')} or newer`;
    case 'before-2023.3':
      return 'Nsight Systems 2023.3 or newer';
    default:
      return 'the Nsight Systems version that captured it, or a newer version,';
  }
}

/** Below, at or above zero as a is older than, the same as or newer than b. */
export function compareReleases(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function asciiAt(bytes: Uint8Array, from: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(from, from + length));
}
