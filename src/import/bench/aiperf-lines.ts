/** What the line files of AIPerf share: objects with wall-clock nanoseconds, which JSON readers do not keep exactly. */
import type { JsonObject } from '../../base/json/json-object.js';
import type { BenchContent } from './bench-content.js';

export interface AiperfLine {
  readonly value: JsonObject;
  /** Nanoseconds since 1970 of a field, to the digit. */
  utcNs(name: string): bigint | undefined;
}

export function aiperfLines(
  content: BenchContent,
  isRow: (value: JsonObject) => boolean,
): readonly AiperfLine[] {
  const rows = content.objects.filter(({ value }) => isRow(value));
  if (rows.length === 0) return [];
  const texts = content.isWhole ? [content.text] : content.text.split('\n');
  return rows.map(({ value, line }) => ({
    value,
    utcNs(name) {
      const found = new RegExp(`"${name}"\\s*:\\s*(\\d{1,20})\\b`).exec(texts[line - 1] ?? '')?.[1];
      return found === undefined ? undefined : BigInt(found);
    },
  }));
}

export const isAiperfLine = (content: BenchContent, isRow: (value: JsonObject) => boolean): boolean =>
  content.objects.some(({ value }) => isRow(value));

export const leastOf = (moments: readonly (bigint | undefined)[]): bigint | undefined =>
  moments.reduce<bigint | undefined>(
    (least, moment) => (moment !== undefined && (least === undefined || moment < least) ? moment : least),
    undefined,
  );
