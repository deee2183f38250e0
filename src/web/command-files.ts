/** Commands about a profile, with its files as they were given. */
import { plural } from '../base/units.js';
import { profiles } from './session.js';
import { shellWord } from './shell-word.js';
import type { Pane } from './state.js';

const filesOf = ({ id, name }: Pick<Pane, 'id' | 'name'>): readonly string[] =>
  profiles.value.find(profile => profile.id === id)?.files ?? [name];

/** `stepscope analyze FILE …` of documents, for this profile: to run, and short enough to read. */
export function commandFor(
  pane: Pick<Pane, 'id' | 'name'>,
  text: string,
): { readonly text: string; readonly shown: string } {
  const files = filesOf(pane).map(shellWord);
  // A saved page of several files knows only how many they were.
  if (/^'\d+ files'$/.test(files[0])) return { text, shown: text };
  const whole = files.join(' ');
  const first = files[0].replace(/^'?.*\//, '').replace(/'$/, '');
  const short = files.length > 2 ? `${first} … (${plural(files.length, 'file')})` : whole;
  const put = (names: string) => text.replace(/\bFILE\b/g, () => names);
  return { text: put(whole), shown: put(short) };
}
