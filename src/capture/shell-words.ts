/** A pasted line as a POSIX shell splits it: words, quotes, continued lines, and where one command ends. Nothing is expanded. */
import { UserError } from '../base/user-error.js';

/** The simple commands of a line, in order: `a && b > log &` is two, without the redirection. */
export function shellCommands(line: string): string[][] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  /** The next word is a file of a redirection. */
  let skips = false;
  const endWord = () => {
    if (word !== undefined && !skips) commands[commands.length - 1].push(word);
    if (word !== undefined) skips = false;
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    skips = false;
    commands.push([]);
  };
  for (let at = 0; at < line.length; at++) {
    const letter = line[at];
    if (letter === '\\') {
      const next = line[++at];
      if (next === '\r' && line[at + 1] === '\n') at++;
      else if (next !== '\n' && next !== undefined) word = (word ?? '') + next;
    } else if (letter === "'" || letter === '"') {
      const [text, end] = quoted(line, at);
      word = (word ?? '') + text;
      at = end;
    } else if (letter === '#' && word === undefined) {
      const end = line.indexOf('\n', at);
      at = end < 0 ? line.length : end - 1;
    } else if (letter === '\n' || letter === ';' || letter === '|') endCommand();
    else if (letter === '&' && line[at + 1] === '>') {
      endWord();
      skips = true;
      at++;
    } else if (letter === '&' && line[at - 1] !== '>') endCommand();
    else if (letter === '>' || letter === '<') {
      // `2>`: the number belongs to the redirection.
      if (word !== undefined && /^\d+$/.test(word)) word = undefined;
      endWord();
      skips = true;
      while (/[>&<]/.test(line[at + 1] ?? '')) at++;
    } else if (/\s/.test(letter)) endWord();
    else word = (word ?? '') + letter;
  }
  endWord();
  return commands.filter(words => words.length > 0);
}

/** Words of options alone, as after `--nsys-args`. */
export const shellWords = (text: string): string[] => shellCommands(text).flat();

function quoted(line: string, from: number): [text: string, end: number] {
  const quote = line[from];
  let text = '';
  for (let at = from + 1; at < line.length; at++) {
    if (line[at] === quote) return [text, at];
    if (quote === '"' && line[at] === '\\' && /["\\$`\n]/.test(line[at + 1] ?? '')) {
      at++;
      if (line[at] !== '\n') text += line[at];
    } else text += line[at];
  }
  throw new UserError(
    'usage',
    `The quote at ${JSON.stringify(line.slice(from, from + 20))} is not closed.`,
    'Paste the whole command.',
  );
}

/** One command of a pasted line: the one with `program` if there is one, with what was exported before it. */
export function pastedWords(line: string, program: string): string[] {
  const commands = shellCommands(line);
  const isIt = (words: readonly string[]) => words.some(word => word.split('/').pop() === program);
  const found = Math.max(0, commands.findIndex(isIt));
  const exported = commands
    .slice(0, found)
    .filter(([first, ...rest]) => first === 'export' && rest.every(word => /^\w+=/.test(word)))
    .flatMap(([, ...rest]) => rest);
  return [...exported, ...(commands[found] ?? [])];
}
