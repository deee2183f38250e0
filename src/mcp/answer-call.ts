/** From a call to its answer: the command, its JSON within the size that was asked for, and cursors for what is left out. */
import { UserError } from '../base/user-error.js';
import type { AllowedFolders } from './allowed-folders.js';
import type { Ran } from './run-bounded.js';
import { type Arguments, checkedArguments, type Tool } from './tool.js';
import { tools } from './tools.js';

const DEFAULT_BYTES = 6000;
const [LEAST_BYTES, MOST_BYTES] = [1000, 60_000];
const MOST_CURSORS = 4;

interface Cut {
  readonly path: string;
  readonly from: number;
  readonly shown: number;
  readonly of: number;
}

/** What runs commands. */
export interface Runs {
  run(args: readonly string[], signal: AbortSignal): Promise<Ran>;
}

export async function answerCall(
  name: string,
  given: Arguments,
  folders: AllowedFolders,
  runs: Runs,
  signal: AbortSignal,
): Promise<string> {
  const { tool, args: asked } =
    name === 'more' ? readCursor(given.cursor) : { tool: toolNamed(name), args: given };
  const args = checkedArguments(tool, asked, folders);
  const bytes = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, Number(args.maxBytes ?? DEFAULT_BYTES)));
  const command = tool.command(args);
  const border = command.indexOf('--');
  const own = border < 0 ? command : command.slice(0, border);
  const shape = [
    '--json',
    // Without its line ends and indentation it is smaller, which leaves room for cursors.
    `--budget=${bytes}`,
    ...(args.limit === undefined ? [] : [`--limit=${args.limit}`]),
    ...(args.offset === undefined ? [] : [`--offset=${args.offset}`]),
    ...(args.fields === undefined ? [] : [`--fields=${(args.fields as string[]).join(',')}`]),
  ];
  const words = [...own, ...shape, ...(border < 0 ? [] : command.slice(border))];
  const { status, out, err } = await runs.run(words, signal);
  // `check` answers by its exit code, with the document.
  if (out.trimStart().startsWith('{')) return bounded(JSON.parse(out), tool, asked, bytes, status);
  const [what = 'The command gave no answer.', hint = ''] = err.replace(/^stepscope: /, '').split('\n');
  throw new UserError('usage', what.slice(0, 1000), hint.slice(0, 1000));
}

function toolNamed(name: string): Tool {
  const found = tools.find(tool => tool.name === name);
  if (found) return found;
  throw new UserError(
    'usage',
    `There is no tool ${JSON.stringify(name.slice(0, 80))}.`,
    `Tools: ${tools.map(tool => tool.name).join(', ')}`,
  );
}

/** One line of JSON. Cursors are added as far as they fit. */
function bounded(
  envelope: { truncated: readonly Cut[] } & Record<string, unknown>,
  tool: Tool,
  asked: Arguments,
  bytes: number,
  status: number,
): string {
  const { truncated, ...rest } = envelope;
  const text = (cursors: number) =>
    JSON.stringify({
      ...rest,
      ...(tool.name === 'check' ? { exitCode: status } : {}),
      truncated: truncated.map(({ path, from, shown, of }, i) => ({
        ...{ path, from, shown, of },
        ...(i < cursors && from + shown < of ? { cursor: cursorOf(tool, asked, path, from + shown) } : {}),
      })),
    });
  for (let cursors = MOST_CURSORS; cursors > 0; cursors--) {
    const whole = text(cursors);
    if (Buffer.byteLength(whole) <= bytes) return whole;
  }
  return text(0);
}

/** The same question from another row on, of the one analysis that was cut. */
function cursorOf(tool: Tool, asked: Arguments, path: string, offset: number): string {
  const analysis = /^analyses\.([^.]+)\.rows$/.exec(path)?.[1];
  const [name, args] =
    analysis === undefined
      ? [tool.name, { ...asked, offset }]
      : [
          'analyze',
          {
            files: asked.files,
            iterations: asked.iterations,
            phase: asked.phase,
            analyses: [analysis],
            offset,
          },
        ];
  return Buffer.from(JSON.stringify([name, args])).toString('base64url');
}

/** A cursor is what the client was given, or anything else: it is checked like any call. */
function readCursor(cursor: unknown): { tool: Tool; args: Arguments } {
  const wrong = new UserError('usage', 'This is not a cursor.', 'Give a cursor of "truncated" as it is.');
  if (typeof cursor !== 'string' || cursor.length > 40_000) throw wrong;
  try {
    const [name, args] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (typeof name !== 'string' || typeof args !== 'object' || args === null || Array.isArray(args))
      throw wrong;
    return { tool: toolNamed(name), args };
  } catch (error) {
    throw error instanceof UserError ? error : wrong;
  }
}
