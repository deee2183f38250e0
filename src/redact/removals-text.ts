/** What was removed from a copy: kinds with their totals, places under them. */
import { formatBytes, plural } from '../base/units.js';
import { type Removal, removalKinds } from './removals.js';

export function removalsText(removed: readonly Removal[], file: string, sizeBytes: number): string {
  const lines = [`wrote ${file}, ${formatBytes(sizeBytes)}`];
  if (removed.length === 0) lines.push('There was nothing to remove.');
  lines.push(...listText(removed));
  if (removed.length > 0)
    lines.push('', `${plural(kindsOf(removed).length, 'kind')}; docs/redact.md lists what to check by hand.`);
  return `${lines.join('\n')}\n`;
}

export function checkText(removed: readonly Removal[], file: string): string {
  if (removed.length === 0)
    return `${file} is safe to share. It keeps the names of kernels, functions and ranges: see docs/redact.md.\n`;
  const lines = [`${file} is not safe to share. Redaction removes:`, ...listText(removed)];
  return `${lines.join('\n')}\n\nRedact it with: stepscope redact ${file} -o OUT\n`;
}

const kindsOf = (removed: readonly Removal[]) => [...new Set(removed.map(({ kind }) => kind))];

function listText(removed: readonly Removal[]): string[] {
  const lines: string[] = [];
  for (const kind of kindsOf(removed)) {
    const places = removed.filter(removal => removal.kind === kind);
    const total = places.reduce((sum, { count }) => sum + count, 0);
    lines.push('', `${removalKinds[kind]}: ${total.toLocaleString('en')}`);
    for (const { where, count } of places)
      lines.push(`  ${count.toLocaleString('en').padStart(9)}  ${where}`);
  }
  return lines;
}
