/**
 * Lines of a log that came through `tee`, `srun -l`, `mpirun --tag-output` or a terminal: colour codes and carriage
 * returns of progress bars undone, the rank in front taken off and kept as the stream's name.
 */

export interface LogLine {
  readonly text: string;
  /** Counted from 1 in the file. */
  readonly number: number;
  /** Lines of different ranks are read apart; empty where no rank is in front. */
  readonly stream: string;
  /** The file ends here without a line break: the last word may be cut. */
  readonly cut: boolean;
}

/** What we look for stands at the beginning of a line; lines of megabytes are something else. */
const MOST_CHARACTERS = 16_384;

const STREAM = /^\s{0,6}(?:(\d{1,5}): |\[\d{1,5},(\d{1,5})\]<std(?:out|err)>:\s?|\[rank(\d{1,5})\]:\s?)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are control characters
const COLOUR = /\u001b\[[0-9;?]{0,30}[ -/]{0,3}[@-~]|\u001b\][^\u0007\u001b]{0,200}(?:\u0007|\u001b\\)/g;

export function* logLines(text: string): Generator<LogLine> {
  let number = 0;
  let from = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (from < text.length) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    number++;
    // A progress bar rewrites its line: each state is a line of its own. Searched in the line, not in all that follows.
    const line = text.slice(from, to);
    let start = 0;
    while (start <= line.length) {
      const back = line.indexOf('\r', start);
      const end = back === -1 ? line.length : back;
      const piece = line.slice(start, Math.min(end, start + MOST_CHARACTERS));
      if (piece !== '') yield lineOf(piece, number, newline === -1 && end === line.length);
      start = end + 1;
    }
    from = to + 1;
  }
}

function lineOf(piece: string, number: number, cut: boolean): LogLine {
  const plain = piece.includes('\u001b') ? piece.replace(COLOUR, '') : piece;
  const prefix = STREAM.exec(plain);
  if (!prefix) return { text: plain, number, stream: '', cut };
  const stream = prefix[1] ?? prefix[2] ?? prefix[3];
  return { text: plain.slice(prefix[0].length), number, stream, cut };
}
