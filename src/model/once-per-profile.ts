/** Facts that take a pass over large tables and are the same whatever steps are looked at: found once per profile. */
import type { Profile } from './profile.js';

export function oncePerProfile<Fact>(find: (profile: Profile) => Fact): (profile: Profile) => Fact {
  const known = new WeakMap<Profile, { readonly fact: Fact }>();
  return profile => {
    let found = known.get(profile);
    if (!found) known.set(profile, (found = { fact: find(profile) }));
    return found.fact;
  };
}
