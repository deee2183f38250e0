/** Standard output and error as commands see them. */
import { printable, printableLines } from '../base/printable.js';
import { type ColorDepth, PIPE_WIDTH } from '../report/terminal.js';

/** Where a command writes. Tests hand in their own. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Columns of the terminal; where standard output is none, of a file that people read. */
  readonly width: number;
  readonly color: boolean;
  readonly colorDepth?: ColorDepth;
  /** Columns of the terminal that shows errors; absent: none does, and lines stay whole for those who read logs. */
  readonly errorWidth?: number;
  /** Shows how far a long step is, on a terminal only; `detail` may change from call to call. */
  progress(label: string, done: number, detail?: string): void;
  clearProgress(): void;
  /** Rewrites one line at the bottom of a terminal; absent or silent elsewhere. */
  status?(text: string): void;
}

/** Nothing is said about steps shorter than this. */
const QUIET_MS = 1000;
const REFRESH_MS = 100;

/** As no-color.org and Node have it: FORCE_COLOR decides where it is set, then NO_COLOR, then the terminal. */
export function colorsOf(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): Pick<Output, 'color'> & { readonly colorDepth: ColorDepth } {
  const { FORCE_COLOR: forced, NO_COLOR: unwanted, COLORTERM: kind = '', TERM: terminal } = env;
  const colorDepth = forced === '3' || /truecolor|24bit/.test(kind) ? 'all' : 'some';
  if (forced !== undefined) return { color: forced !== '0' && forced !== 'false', colorDepth };
  return { color: isTerminal && !unwanted && terminal !== 'dumb', colorDepth };
}

export function processOutput(): Output {
  const { stdout, stderr, env } = process;
  let begun = 0;
  let shown = 0;
  let current = '';
  const columns = stdout.isTTY ? stdout.columns : Number(env.COLUMNS) || PIPE_WIDTH;
  return {
    out: text => void stdout.write(text),
    err: text => void stderr.write(printableLines(text, Boolean(stderr.isTTY))),
    width: columns,
    ...(stderr.isTTY ? { errorWidth: stderr.columns } : {}),
    ...colorsOf(env, Boolean(stdout.isTTY)),
    progress(label, done, detail = '') {
      if (!stderr.isTTY) return;
      const now = performance.now();
      if (label !== current) {
        current = label;
        begun = now;
      }
      if (now - begun < QUIET_MS || now - shown < REFRESH_MS) return;
      shown = now;
      stderr.write(
        `\r\x1b[K${printable(label)} … ${Math.min(99, Math.floor(done * 100))}%${detail && `  ${detail}`}`,
      );
    },
    ...(stderr.isTTY
      ? {
          status(text: string) {
            shown = performance.now();
            stderr.write(`\r\x1b[K${text.slice(0, Math.max(20, (stderr.columns || 80) - 1))}`);
          },
        }
      : {}),
    clearProgress() {
      if (shown > 0) stderr.write('\r\x1b[K');
      shown = 0;
    },
  };
}
