/** From files to what the page draws. */
import * as path from 'node:path';
import type { Settings } from '../analyze/analysis.js';
import { breather } from '../import/breathe.js';
import { openProfile } from '../import/open.js';
import { helpAhead } from '../threads/help-ahead.js';
import { startHelper } from '../threads/helper.js';
import { viewProfile } from '../timeline/view-profile.js';
import type { ViewedProfile } from '../timeline/viewed-profile.js';
import { freeMemory } from './free-memory.js';

/** Who wants to know how far it is. */
export interface Told {
  readonly onProgress?: (file: string, done: number) => void;
  /** What comes next. */
  readonly onPhase?: (phase: string) => void;
}

interface Naming extends Told {
  /** What to call it, where it is not the file's own name. */
  readonly name?: string;
  /** The version for whose next opening decoded columns are kept; absent: they are not. */
  readonly cache?: string;
  /** Another thread may take a part of the analyses: it does not have the plugins of this one. */
  readonly withHelp?: boolean;
  /** They take so long to read that the thread starts meanwhile. */
  readonly isLarge?: boolean;
}

export async function openViewed(
  files: readonly string[],
  settings: Settings,
  { name, cache, withHelp = false, isLarge = false, onProgress, onPhase = () => {} }: Naming = {},
): Promise<ViewedProfile> {
  const started = withHelp && isLarge ? startHelper() : undefined;
  // Everything that was recorded: the timeline draws what no analysis reads.
  const profile = await openProfile(files, {
    ...{ name, onProgress },
    ...(cache === undefined ? {} : { cache }),
  }).catch(error => {
    started?.stop();
    throw error;
  });
  await freeMemory();
  const view = viewProfile(profile, settings, name ?? viewedName(files));
  const breathe = breather();
  onPhase('Finding steps');
  if (withHelp)
    await helpAhead(view.lookingAt(), { withTimeline: true, breathe, ...(started ? { started } : {}) });
  // Made now, while everyone is waiting anyway: ready should mean that the timeline is shown at once.
  await view.prepare(onPhase, breathe);
  return view;
}

/** Base name of the file, or how many there are. */
export const viewedName = (files: readonly string[]): string =>
  files.length === 1 ? path.basename(path.resolve(files[0])) : `${files.length} files`;

/** The same with the folder it lies in: captures side by side are often called alike. */
export const longNameOf = (files: readonly string[]): string =>
  `${path.basename(path.dirname(path.resolve(files[0])))}/${viewedName(files)}`;
