/** Reads a whole trace, with the help of other threads where it is large. */
import type { Profile } from '../../model/profile.js';
import type { TableName } from '../../model/schema.js';
import type { ImportContext } from '../importer.js';
import type { ProfileFile } from '../profile-file.js';
import type { Unwanted } from './events/event-reader.js';
import type { Wanted } from './events/read-trace.js';
import { type Sharing, startHelpers, usualSharing } from './threads/part-helpers.js';

export async function importKineto(
  file: ProfileFile,
  context: ImportContext,
  sharing: Sharing = usualSharing,
): Promise<Profile> {
  const wanted: Wanted = { unwanted: unwanted(context), tables: context.tables };
  const onProgress = rising(context.onProgress);
  const helpers = await startHelpers(file, context, wanted, sharing);
  try {
    // Loaded while the helpers start.
    const { finishImport } = await import('./build/finish-import.js');
    const together = helpers && (await import('./threads/read-together.js')).readTogether;
    const alone = (await import('./read/read-alone.js')).readAlone;
    const read =
      (together && (await together(helpers, wanted, onProgress))) ?? (await alone(file, wanted, onProgress));
    onProgress(1);
    return finishImport(file, read, wanted);
  } finally {
    helpers?.counter.stop();
  }
}

/** Reading a second time, with one thread, must not look like going back. */
function rising(onProgress: ImportContext['onProgress']): (done: number) => void {
  let most = 0;
  return done => {
    most = Math.max(most, done);
    onProgress?.(most);
  };
}

/** What need not be read: most bytes of a trace are ops, their arguments and arrows, and few questions need those. */
export function unwanted({ tables }: ImportContext): Unwanted {
  const asksFor = (table: TableName, columns: readonly string[]) =>
    !tables || tables.get(table)?.some(column => columns.includes(column)) === true;
  const links = asksFor('kernels', ['op']) || asksFor('apiCalls', ['op']);
  return {
    ops: tables !== undefined && !tables.has('ops') && !links,
    frames: tables !== undefined && !tables.has('frames'),
    flows: tables !== undefined && !tables.has('flows'),
    opArguments: !links && !asksFor('ops', ['shapes', 'types', 'strides', 'values', 'stack', 'externalId']),
    frameArguments: !asksFor('frames', ['pythonId', 'pythonParentId']),
    // Not even where everything is: the many different texts would crowd out shapes and stacks.
    opValues: tables === undefined || !asksFor('ops', ['strides', 'values']),
  };
}
