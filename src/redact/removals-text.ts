/** What was removed from a copy: kinds with their totals, places under them. */
import { formatBytes, plural } from '../base/units.js';
import { type Removal, removalKinds } from './removals.js';

export function removalsText(removed: readonly Removal[], file: string, sizeBytes: number): string {
  const lines = [`wrote ${file}, ${formatBytes(sizeBytes)}`];
  if (removed.length === 0) lines.push('Nothing in it had to be removed.');
  const kinds = [...new Set(removed.map(({ kind }) => kind))];
  for (const kind of kinds) {
    const places = removed.filter(removal => removal.kind === kind);
    const total = places.reduce((sum, { count }) => sum + count, 0);
    lines.push('', `${removalKinds[kind]}: ${total.toLocaleString('en')}`);
    for (const { where, count } of places)
      lines.push(`  ${count.toLocaleString('en').padStart(9)}  ${where}`);
  }
  if (removed.length > 0)
    lines.push('', `${plural(kinds.length, 'kind')}; what to check by hand is in docs/redact.md.`);
  return `${lines.join('\n')}\n`;
}
