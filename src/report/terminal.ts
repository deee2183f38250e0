/** What a terminal needs: colour on request, widths in characters. */

export function painter(color: boolean) {
  const style = (open: number, close: number) => (text: string) =>
    color ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: style(1, 22),
    dim: style(2, 22),
    yellow: style(33, 39),
    red: style(31, 39),
    green: style(32, 39),
  };
}

/** Close enough for names and numbers: one column per code point, two for CJK and emoji. */
export function widthOf(text: string): number {
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

export function wrap(text: string, width: number): string[] {
  if (!Number.isFinite(width) || width < 20) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map(part => truncate(part, width));
}
