/** Versions as numbers: `2025.3.1.90`, `0.13.0`, `1.3.0rc4`. Enough to tell which era a tool is of. */

export interface VersionNumbers {
  readonly numbers: readonly number[];
  /** `rc4`, `dev0`, `post1`: what follows the numbers. */
  readonly suffix: string;
}

export function parseVersion(text: string): VersionNumbers | undefined {
  const match = /^v?(\d+(?:\.\d+)*)(?:[.\-_+]?([a-z][\w.+-]*)|[+-][\w.+-]*)?$/i.exec(text.trim());
  if (!match) return undefined;
  return { numbers: match[1].split('.').map(Number), suffix: (match[2] ?? '').toLowerCase() };
}

export const formatVersion = ({ numbers, suffix }: VersionNumbers): string => numbers.join('.') + suffix;

/** Below, at or above zero as a is older, the same or newer. Suffixes do not count. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Unknown versions count as new: most installations are, and what is written is then what is documented today. */
export function isAtLeast(version: VersionNumbers | undefined, ...wanted: number[]): boolean {
  return version === undefined || compareVersions(version.numbers, wanted) >= 0;
}

/** A release candidate lies before its release: what changed "in 1.3" may or may not be in 1.3.0rc2. */
export const isCandidate = ({ suffix }: VersionNumbers): boolean => /^(a|b|rc|dev|alpha|beta)/.test(suffix);
