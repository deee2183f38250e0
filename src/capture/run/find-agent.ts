/** Our agent on the machine that runs the program: is it installed there, and bringing it where it is not. */
import { AGENT_QUESTION } from '../agent-question.js';
import type { AgentFacts } from '../capture-plan.js';
import { isPython } from '../launchers.js';
import { programOf, pythonInScript } from '../python-of.js';
import { sendTree } from './remote-machine.js';
import { script, type Transport } from './transport.js';

const HEAD = 'f=$(command -v -- "$1") && head -c 512 "$f"';
const ASK = '"$1" -c "$2" 2>/dev/null';
const TIMEOUT_MS = 20_000;

/** The version of the agent in the Python that this command will run in; undefined where there is none to be found. */
export async function findAgent(
  transport: Transport,
  command: readonly string[],
): Promise<string | undefined> {
  const ask = async (text: string, ...args: string[]): Promise<string> =>
    (await transport.exec(script(text, ...args), { timeoutMs: TIMEOUT_MS })).stdout;
  try {
    const program = programOf(command);
    if (program === undefined) return undefined;
    const python = isPython(program) ? program : pythonInScript(await ask(HEAD, program));
    if (python === undefined) return undefined;
    return /^\d[\w.+-]*$/.exec((await ask(ASK, python, AGENT_QUESTION)).trim())?.[0];
  } catch {
    // No shell, no answer in time: then ours is brought along, which always works.
    return undefined;
  }
}

/** What a program needs of the folder `agent`; a clone holds tests and more beside it. */
const PARTS = ['_stepscope_start.py', 'sitecustomize.py', 'stepscope_agent'];

/** Far away: the facts of that machine, and our agent sent into `to` there unless the same one is installed. */
export async function agentThere(
  transport: Transport,
  command: readonly string[],
  ours: { readonly folder: string; readonly version: string },
  to: string,
): Promise<AgentFacts> {
  const installed = await findAgent(transport, command);
  if (installed !== ours.version)
    await sendTree(transport, ours.folder, to, {
      what: 'The agent',
      option: '--agent-folder',
      parts: PARTS,
    });
  return { ours: ours.version, ...(installed === undefined ? {} : { installed }) };
}
