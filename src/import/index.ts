/** The registry: one line per format. */
import { UserError } from '../base/user-error.js';
import { agentSidecar } from './agent-sidecar/agent-sidecar.js';
import type { Importer } from './importer.js';
import { kinetoJson } from './kineto-json/kineto-json.js';
import { nsysRep } from './nsys-rep/nsys-rep.js';
import { nsysSqlite } from './nsys-sqlite/nsys-sqlite.js';
import { perfetto } from './perfetto/perfetto.js';
import type { ProfileFile } from './profile-file.js';

const known: Importer[] = [nsysSqlite, nsysRep, kinetoJson, perfetto, agentSidecar];

export const importers: readonly Importer[] = known;

/** One of a plugin's. */
export function addImporter(importer: Importer): void {
  known.push(importer);
}

/**
 * How much of a file is looked at before it counts as unknown. The first look decides nearly always; JSON may carry
 * any amount of metadata before what tells it apart, so it gets a longer one, and a last one with a bound.
 */
const LOOKS = [4 << 10, 256 << 10, 16 << 20];
const OPEN_BRACE = 0x7b;

/** Those that know the content of a file: one, or none. */
export async function importersOf(file: Pick<ProfileFile, 'head'>): Promise<readonly Importer[]> {
  for (const bytes of LOOKS) {
    const head = await file.head(bytes);
    const found = importers.filter(importer => importer.recognizes(head));
    if (found.length > 0 || head.length < bytes || !head.subarray(0, 64).includes(OPEN_BRACE)) return found;
  }
  return [];
}

/** The one importer that knows this file. */
export async function importerFor(file: ProfileFile): Promise<Importer> {
  const found = await importersOf(file);
  if (found.length > 1) throw new Error(`${found.map(i => i.id).join(' and ')} both claim ${file.name}`);
  if (found.length === 1) return found[0];
  if (file.unpackingFailed !== undefined) throw file.archiveError();
  throw new UserError(
    'not-a-profile',
    `${file.name} is not a profile in a supported format.`,
    `Supported formats: ${importers.map(importer => importer.label).join('; ')}; also compressed (.gz, .zst, .xz).`,
  );
}
