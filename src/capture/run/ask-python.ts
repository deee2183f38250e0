/** Asks the Python that a command will run in, here or on another machine. */
import { isPython } from '../launchers.js';
import { programOf, pythonInScript } from '../python-of.js';
import { script, type Transport } from './transport.js';

const HEAD = 'f=$(command -v -- "$1") && head -c 512 "$f"';
const ASK = '"$1" -c "$2" 2>/dev/null';
const TIMEOUT_MS = 20_000;

/** What the question prints; undefined if no Python was found, or it did not answer. */
export async function askPython(
  transport: Transport,
  command: readonly string[],
  question: string,
): Promise<string | undefined> {
  const ask = async (text: string, ...args: string[]): Promise<string> =>
    (await transport.exec(script(text, ...args), { timeoutMs: TIMEOUT_MS })).stdout;
  try {
    const program = programOf(command);
    if (program === undefined) return undefined;
    const python = isPython(program) ? program : pythonInScript(await ask(HEAD, program));
    return python === undefined ? undefined : (await ask(ASK, python, question)).trim();
  } catch {
    // No shell, or no answer in time.
    return undefined;
  }
}

/** Undefined where it cannot be checked. */
export async function canImport(
  transport: Transport,
  command: readonly string[],
  module: string,
): Promise<boolean | undefined> {
  const question = `try:\n    import ${module}\n    print("yes")\nexcept ImportError:\n    print("no")`;
  const answer = (await askPython(transport, command, question))?.split('\n').at(-1);
  return answer === 'yes' ? true : answer === 'no' ? false : undefined;
}
