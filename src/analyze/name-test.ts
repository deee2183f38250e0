import type { Profile } from '../model/profile.js';

/** Tests names by a pattern, each distinct name once: events come by the million, names by the hundred. */
export function nameTest(profile: Profile, pattern: RegExp): (id: number) => boolean {
  const known: (boolean | undefined)[] = [];
  return id => (known[id] ??= pattern.test(profile.strings.text(id)));
}
