/** The version of this package, from its own description. */
import { readFileSync } from 'node:fs';

let known: string | undefined;

export function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  known ??= (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
  return known;
}
