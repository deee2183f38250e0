/** Words of `nsys profile` as pairs of option and value, short names made long. */
import { nsysLongOptions, nsysShortOptions } from '../catalog/nsys-options.js';

export interface NsysWord {
  /** Without dashes. */
  readonly name: string;
  readonly value: string;
  /** As it was written. */
  readonly words: readonly string[];
}

/** `end`: where the options end and the program begins. */
export function readNsysWords(words: readonly string[]): { options: NsysWord[]; end: number } {
  const options: NsysWord[] = [];
  let at = 0;
  while (at < words.length && words[at].startsWith('-')) {
    const read = nsysWordAt(words, at);
    options.push(read);
    at += read.words.length;
  }
  return { options, end: at };
}

function nsysWordAt(words: readonly string[], at: number): NsysWord {
  const word = words[at];
  const long = /^--([^=]+)(?:=(.*))?$/s.exec(word);
  if (long) {
    const [, name, value] = long;
    if (value !== undefined || name === 'help' || name === 'version')
      return { name, value: value ?? '', words: [word] };
    return { name, value: words[at + 1] ?? '', words: words.slice(at, at + 2) };
  }
  const short = word[1] ?? '';
  const name = nsysShortOptions[short] ?? short;
  // `-tcuda`, `-t=cuda` and `-t cuda`.
  if (word.length > 2) return { name, value: word.slice(2).replace(/^=/, ''), words: [word] };
  if (short === 'h' || short === 'v') return { name, value: '', words: [word] };
  return { name, value: words[at + 1] ?? '', words: words.slice(at, at + 2) };
}

/**
 * Options of nsys among those of another program. `own`: flags the program has itself, each with whether it takes a
 * value, so that a value is never taken for an option.
 */
export function splitNsysWords(
  words: readonly string[],
  own: ReadonlyMap<string, boolean>,
): { own: string[]; nsys: NsysWord[] } {
  const kept: string[] = [];
  const nsys: NsysWord[] = [];
  for (let at = 0; at < words.length; at++) {
    const [flag] = words[at].split('=');
    const takesValue = own.get(flag);
    // A switch of ours with a value is meant for nsys: `--sample=process-tree`.
    const isOurs = takesValue !== undefined && (takesValue || flag === words[at]);
    const known = /^--/.test(flag)
      ? nsysLongOptions.has(flag.slice(2))
      : /^-[a-z]/.test(flag) && nsysShortOptions[flag[1]] !== undefined && !own.has(flag.slice(0, 2));
    if (!isOurs && known) {
      const read = nsysWordAt(words, at);
      // Written as a switch, `--cuda-memory-usage --gc`: nsys itself would take the next option for the value.
      const isSwitch = read.words.length === 2 && read.value.startsWith('-');
      const alone = read.words.length === 1 && !words[at].includes('=') && /^-(-|.$)/.test(words[at]);
      if (isSwitch || alone) nsys.push({ name: read.name, value: 'true', words: [`--${read.name}=true`] });
      else nsys.push(read);
      if (!isSwitch) at += read.words.length - 1;
    } else {
      kept.push(words[at]);
      if (takesValue && flag === words[at] && at + 1 < words.length) kept.push(words[++at]);
    }
  }
  return { own: kept, nsys };
}
