/**
 * Names of ranges, annotations and frames. What analyses read from a name stays; the rest is searched for paths, people
 * and keys, or hashed.
 */
import { createHash } from 'node:crypto';
import { matchMarker } from '../catalog/engine-markers.js';
import {
  activityOf,
  functionOfFrame,
  GC_GENERATION,
  GIL_HOLD,
  GIL_WAIT,
} from '../catalog/host-activities.js';
import { layerOf } from '../catalog/layer-names.js';
import type { Identities } from './identities.js';
import { type NoteRemoval, scrubText } from './scrub-text.js';

/** Everything an analysis takes from a name. Two names with the same answer are the same to all of them. */
function meaningOf(name: string): string {
  if (name === GIL_WAIT || name === GIL_HOLD) return name;
  const marker = matchMarker(name);
  const layer = layerOf(name);
  const activity = activityOf(name) ?? activityOf(functionOfFrame(name));
  const generation = activity === 'garbage-collection' ? GC_GENERATION.exec(name)?.[1] : undefined;
  return marker || layer || activity
    ? JSON.stringify([marker?.grammar.engine, marker?.facts, layer, activity, generation])
    : '';
}

/**
 * The shortest end of a name that means the same to every analysis: of `load /data/acme/layers.3.mlp` that is
 * `layers.3.mlp`. A name of which all of it means something (a step marker) comes back whole.
 */
function meaningfulEnd(name: string): string {
  const meaning = meaningOf(name);
  let best = name;
  for (const { index } of name.matchAll(/(?<=[\s/\\.:])(?=[^\s/\\.:])/g)) {
    const end = name.slice(index);
    if (meaningOf(end) === meaning) best = end;
  }
  // What follows the part that means something is as free as what stands in front of it.
  for (const { index } of best.matchAll(/(?<=\S)(?=[\s/\\])/g)) {
    const front = best.slice(0, index);
    if (meaningOf(front) === meaning) return front;
  }
  return best;
}

/** Without paths and names of people and machines, but with what analyses read from it. */
export function scrubName(name: string, identities: Identities, note: NoteRemoval): string {
  const noted: Parameters<NoteRemoval>[0][] = [];
  const scrub = (text: string) => scrubText(text, identities, kind => noted.push(kind));
  const meaning = meaningOf(name);
  const scrubbed = scrub(name);
  if (scrubbed === name) return name;
  const kept = meaningOf(scrubbed) === meaning ? scrubbed : scrub(meaningfulEnd(name));
  noted.forEach(note);
  return meaningOf(kept) === meaning ? kept : hashedName(name);
}

function hashedName(name: string): string {
  return `range-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

export function redactRange(name: string, identities: Identities, hash: boolean, note: NoteRemoval): string {
  const isOurs = /^range-[0-9a-f]{8}$/.test(name);
  if (!hash || name === '' || isOurs) return scrubName(name, identities, note);
  if (meaningOf(name) === '') {
    note('range');
    return hashedName(name);
  }
  const end = meaningfulEnd(name);
  if (end !== name) note('range');
  return scrubName(end, identities, note);
}
