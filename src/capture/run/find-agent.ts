/** Our agent on the machine that runs the program: is it installed there, and bringing it where it is not. */
import { AGENT_QUESTION } from '../agent-question.js';
import type { AgentFacts } from '../capture-plan.js';
import { askPython } from './ask-python.js';
import { sendTree } from './remote-machine.js';
import type { Transport } from './transport.js';

/** The version of the agent in the Python that this command will run in; undefined where there is none to be found. */
export async function findAgent(
  transport: Transport,
  command: readonly string[],
): Promise<string | undefined> {
  // Without an answer ours is brought along, which always works.
  const answer = await askPython(transport, command, AGENT_QUESTION);
  return /^\d[\w.+-]*$/.exec(answer ?? '')?.[0];
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
