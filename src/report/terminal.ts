/** What a terminal needs: colour on request, widths in characters. */

/** `all`: any colour; `some`: the 256 that nearly every terminal has. */
export type ColorDepth = 'all' | 'some';

/** What a file or a pipe is given: the widest that still reads as a table. */
export const PIPE_WIDTH = 160;

export function painter(color: boolean, depth: ColorDepth = 'some') {
  const style = (open: number, close: number) => (text: string) =>
    color ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    yellow: style(33, 39),
    red: style(31, 39),
    green: style(32, 39),
    /** A colour of the palette, `#1f78b4`. */
    ink: (hex: string | undefined, text: string) =>
      color && hex !== undefined && text !== ''
        ? `\x1b[38;${depth === 'all' ? `2;${channelsOf(hex).join(';')}` : `5;${nearestOf256(hex)}`}m${text}\x1b[39m`
        : text,
  };
}

const channelsOf = (hex: string): number[] => [1, 3, 5].map(at => Number.parseInt(hex.slice(at, at + 2), 16));

/** The levels of a channel in the cube of 216 colours that begins at 16. */
const CUBE = [0, 95, 135, 175, 215, 255];

function nearestOf256(hex: string): number {
  const places = channelsOf(hex).map(value =>
    CUBE.reduce((best, level, i) => (Math.abs(level - value) < Math.abs(CUBE[best] - value) ? i : best), 0),
  );
  const [red, green, blue] = places;
  return 16 + 36 * red + 6 * green + blue;
}

/** Close enough for names and numbers: one column per code point, two for CJK and emoji. */
/** Every sign below the first wide one, so that a length is a width. */
const NARROW = /^[\0-\u10ff]*$/;

export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += isWide(char.codePointAt(0)!) ? 2 : 1;
  return width;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff)
  );
}

export function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (NARROW.test(text)) return `${text.slice(0, Math.max(0, width - 1))}…`;
  let cut = '';
  let used = 0;
  for (const char of text) {
    const next = isWide(char.codePointAt(0)!) ? 2 : 1;
    if (used + next > width - 1) break;
    cut += char;
    used += next;
  }
  return `${cut}…`;
}

/** A name loses its middle: both ends tell more. */
export function shorten(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width < 8) return truncate(text, width);
  const chars = [...text];
  const tailRoom = Math.floor((width - 1) * 0.4);
  let tail = '';
  for (let i = chars.length - 1; i >= 0 && widthOf(chars[i] + tail) <= tailRoom; i--) tail = chars[i] + tail;
  return `${truncate(text, width - widthOf(tail))}${tail}`;
}

/** A sentence that has one line ends after a whole word. */
export function cutAfterWord(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const cut = truncate(text, width - 1);
  const last = cut.lastIndexOf(' ');
  return last < width / 2 ? truncate(text, width) : `${cut.slice(0, last).replace(/[,;:]$/, '')} …`;
}

/** Breaks between words only. A word longer than a line, most of the time a path, loses its middle. */
export function wrap(text: string, width: number): string[] {
  return brokenBetweenWords(text, width).map(part => (width < 20 ? part : shorten(part, width)));
}

/** A number stays with its unit. */
const BETWEEN_WORDS = /(?<!\d) | (?!(?:ns|µs|ms|s|min|h|B|kB|MB|GB|TB|×)(?![\w/]))/;

/** The same, with every word whole: for commands and paths to copy. */
function brokenBetweenWords(text: string, width: number): string[] {
  if (!Number.isFinite(width) || width < 20) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(BETWEEN_WORDS)) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

/** Messages as they are, but for lines that a terminal would break inside a word; further lines begin below the first. */
export function wrapLines(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split('\n')
    .map(line => {
      // What moves the cursor or paints is drawn for its width already.
      if (line.includes('\x1b') || line.includes('\r') || widthOf(line) <= width) return line;
      // A list of names and meanings: the meaning goes on below itself, if there is room for it.
      const [lead] = /^ *(?:\S+(?: \S+)* {2,})?/.exec(line)!;
      const first = lead.length <= width / 2 ? lead : /^ */.exec(line)![0];
      return brokenBetweenWords(line.slice(first.length), width - first.length)
        .map((part, i) => (i === 0 ? first : ' '.repeat(first.length)) + part)
        .join('\n');
    })
    .join('\n');
}
