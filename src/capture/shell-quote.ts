/** Arguments as a POSIX shell reads them back. Any text survives but for NUL, which no argument can hold. */

const SAFE = /^[A-Za-z0-9_@%+=:,./-]+$/;

export const shellQuote = (text: string): string => (SAFE.test(text) ? text : quoted(text));

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A variable's name stays bare, its value is quoted: `NAME='a b'`. */
export const shellAssignment = (name: string, value: string): string => `${name}=${shellQuote(value)}`;

/** A whole command. Its first word must not look like an assignment: `A=b` would set a variable there. */
export function shellCommand(words: readonly string[]): string {
  return words.map((word, i) => (i === 0 && /^\w+=/.test(word) ? quoted(word) : shellQuote(word))).join(' ');
}
