/** Commands that name the files at hand, to be copied as they are. */
import { shellQuote } from '../capture/shell-quote.js';

/** More would hide the command behind its files. */
const MOST_FILES = 8;

/** `stepscope steps FILE` with the files in the place of the word; many stay a word. */
export const commandOn =
  (files: readonly string[]) =>
  (command: string): string =>
    files.length === 0 || files.length > MOST_FILES
      ? command
      : command.replace(/\bFILE\b/, () => files.map(shellQuote).join(' '));
