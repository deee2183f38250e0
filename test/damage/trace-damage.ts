/** Damaged PyTorch traces, with JSON.parse of the whole as the judge of what is JSON. */
import assert from 'node:assert/strict';
import { damage, type Random, textDamages } from './mutations.js';
import { figures, newNotes, type Opened, open, type Scratch, saysLoss } from './property.js';

export interface Intact {
  readonly bytes: Uint8Array;
  readonly opened: Opened;
}

export function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/** Damages the trace once. Says what was done and whether it was opened; throws where a promise is broken. */
export async function tryTrace(
  intact: Intact,
  random: Random,
  scratch: Scratch,
): Promise<{ kind: string; bytes: Uint8Array; opened: boolean }> {
  const { kind, bytes } = damage(textDamages, intact.bytes, random);
  const opened = await checkTrace(bytes, intact, scratch);
  return { kind, bytes, opened };
}

export async function checkTrace(bytes: Uint8Array, intact: Intact, scratch: Scratch): Promise<boolean> {
  const file = scratch.write(bytes);
  const whole = await open(file);
  const asked = await open(file, false);
  assert.equal(whole.error?.code, asked.error?.code, 'refused or not, depending on what was asked for');
  if (!whole.profile || !asked.profile) return false;
  const stretches = ({ profile }: Opened) =>
    profile!.notes.find(note => note.code === 'damaged-event')?.count ?? 0;
  assert.equal(stretches(asked), stretches(whole), 'other damage, depending on what was asked for');
  if (isJson(bytes)) return true;
  const notes = newNotes(whole.profile, intact.opened.profile!);
  assert.ok(notes.length > 0, 'no JSON, and not a word about it');
  const same = JSON.stringify(figures(whole.profile)) === JSON.stringify(figures(intact.opened.profile!));
  assert.ok(same || saysLoss(notes), `other figures, and only ${notes.map(note => note.code)}`);
  return true;
}

export async function intactTrace(bytes: Uint8Array, scratch: Scratch): Promise<Intact> {
  return { bytes, opened: await open(scratch.write(bytes)) };
}
