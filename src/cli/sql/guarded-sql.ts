/**
 * Functions that build texts take memory that DuckDB does not count, and cannot be interrupted: `repeat('x', 4e9)` goes on
 * beyond every bound of the database. A question that names one is asked in a process of its own, which can be ended.
 */
import { spawn } from 'node:child_process';
import { UserError } from '../../base/user-error.js';
import { IS_GUARDED, residentBytes } from '../../mcp/run-bounded.js';

const BUILDS_TEXT =
  /\b(?:repeat|[lr]pad|replace|regexp_replace|translate|printf|format|bar|concat|concat_ws|list_resize|array_resize|list_reduce|reduce|recursive|to_json|string_agg|group_concat|listagg)\b|\|\|/i;
/** Above what a question may take by itself (2 GB) and what the profile takes. */
const MEMORY_BYTES = 4e9;
const LOOK_MS = 50;
/** Time to open the files, and to be stopped by itself. */
const MORE_MS = 30_000;

export function needsGuard(question: string): boolean {
  if (!BUILDS_TEXT.test(question)) return false;
  if (process.env[IS_GUARDED] === undefined) return true;
  // Whoever guards this process may be ended itself.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
  return false;
}

/** The same command again, in another process with our input and output; gives its exit code. Tests ask something else. */
export function askGuarded(
  timeMs: number,
  memoryBytes = MEMORY_BYTES,
  args: readonly string[] = process.argv.slice(1),
): Promise<number> {
  const child = spawn(process.execPath, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, [IS_GUARDED]: '1' },
  });
  let ended: UserError | undefined;
  const end = (what: string) => {
    ended ??= new UserError('too-large', what, 'Ask for less: shorter texts, fewer rows, or sums.');
    child.kill('SIGKILL');
  };
  const late = setTimeout(
    () => end(`The question took longer than ${timeMs / 1000} s and was stopped.`),
    timeMs + MORE_MS,
  );
  const look = setInterval(() => {
    if (residentBytes(child.pid) > memoryBytes) end('The question needs more memory than it may have.');
  }, LOOK_MS);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', status => {
      clearTimeout(late);
      clearInterval(look);
      if (ended) reject(ended);
      else resolve(status ?? 1);
    });
  });
}
