/** Names of ranges and annotations: those the analyses understand stay as they are, the others may be hashed. */
import { createHash } from 'node:crypto';
import { matchMarker } from '../catalog/engine-markers.js';
import { activityOf, functionOfFrame, GIL_HOLD, GIL_WAIT } from '../catalog/host-activities.js';
import { layerOf } from '../catalog/layer-names.js';
import type { Identities } from './identities.js';
import { type NoteRemoval, scrubText } from './scrub-text.js';

/** Everything an analysis takes from a name. Two names with the same answer are the same to all of them. */
function meaningOf(name: string): string {
  if (name === GIL_WAIT || name === GIL_HOLD) return name;
  const marker = matchMarker(name);
  const layer = layerOf(name);
  const activity = activityOf(name) ?? activityOf(functionOfFrame(name));
  return marker || layer || activity
    ? JSON.stringify([marker?.grammar.engine, marker?.facts, layer, activity])
    : '';
}

/** Without paths and names of people and machines, but never at the price of what analyses read from it. */
export function scrubName(name: string, identities: Identities, note: NoteRemoval): string {
  const noted: Parameters<NoteRemoval>[0][] = [];
  const scrubbed = scrubText(name, identities, kind => noted.push(kind));
  if (scrubbed === name) return name;
  if (meaningOf(scrubbed) === meaningOf(name)) {
    noted.forEach(note);
    return scrubbed;
  }
  return identities.remove(name, note);
}

function hashedName(name: string): string {
  return `range-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

export function redactRange(name: string, identities: Identities, hash: boolean, note: NoteRemoval): string {
  const isOurs = /^range-[0-9a-f]{8}$/.test(name);
  if (!hash || name === '' || isOurs || meaningOf(name) !== '') return scrubName(name, identities, note);
  note('range');
  return hashedName(name);
}
