import type { Profile } from '../model/profile.js';

const [NO, YES] = [1, 2];

/** Tests names by a pattern, each distinct name once: events come by the million, names by the hundred. */
export function nameTest({ strings }: Profile, pattern: RegExp): (id: number) => boolean {
  // Bytes, since ids have gaps: a list with gaps is a hash table to the engine.
  const known = new Uint8Array(strings.size);
  return id => {
    const answer = known[id] || (pattern.test(strings.text(id)) ? YES : NO);
    known[id] = answer;
    return answer === YES;
  };
}
