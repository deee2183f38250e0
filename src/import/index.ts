/** The registry: one line per format. */
import { UserError } from '../base/user-error.js';
import { agentSidecar } from './agent-sidecar/agent-sidecar.js';
import type { Importer } from './importer.js';
import { kinetoJson } from './kineto-json/kineto-json.js';
import { nsysRep } from './nsys-rep/nsys-rep.js';
import { nsysSqlite } from './nsys-sqlite/nsys-sqlite.js';

export const importers: readonly Importer[] = [nsysSqlite, nsysRep, kinetoJson, agentSidecar];

/** The one importer that knows this content. */
export function importerFor(head: Uint8Array, name: string): Importer {
  const known = importers.filter(importer => importer.recognizes(head));
  if (known.length > 1) throw new Error(`${known.map(i => i.id).join(' and ')} both claim ${name}`);
  if (known.length === 1) return known[0];
  throw new UserError(
    'not-a-profile',
    `${name} is no profile that Stepscope knows.`,
    `It opens: ${importers.map(importer => importer.label).join('; ')}; each may be gzipped.`,
  );
}
