/** The `stepscope` command: finds the verb, prints errors in two lines, sets the exit status. */
import { readFileSync } from 'node:fs';
import { UserError } from '../base/user-error.js';
import { type Command, helpText, type Output } from './command.js';
import { analyze } from './commands/analyze.js';
import { info } from './commands/info.js';
import { stats } from './commands/stats.js';
import { steps } from './commands/steps.js';
import { processOutput } from './output.js';

export const commands: readonly Command[] = [analyze, steps, info, stats];

export async function run(args: readonly string[]): Promise<void> {
  // `stepscope … | head` is not an error.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0);
    throw error;
  });
  process.exitCode = await runCommand(args, processOutput());
}

export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  const [name, ...rest] = args;
  try {
    if (name === '--version' || name === '-V') {
      output.out(`stepscope ${version()}\n`);
      return 0;
    }
    if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
      output.out(overview());
      return 0;
    }
    const command = commands.find(known => known.name === (name === 'help' ? rest[0] : name));
    if (!command) {
      throw new UserError(
        'usage',
        `There is no command ${JSON.stringify(name)}.`,
        `Commands: ${commands.map(known => known.name).join(', ')}; see stepscope --help`,
      );
    }
    if (name === 'help' || rest.includes('--help') || rest.includes('-h')) {
      output.out(helpText(command));
      return 0;
    }
    return await command.run(rest, output);
  } catch (error) {
    output.clearProgress();
    if (!(error instanceof UserError)) throw error;
    output.err(`stepscope: ${error.message}\n${error.hint}\n`);
    return error.exitCode;
  }
}

function overview(): string {
  const width = Math.max(...commands.map(command => command.name.length));
  const list = commands.map(command => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `stepscope ${version()}: where every microsecond of an LLM inference step goes\n\nusage: stepscope COMMAND FILE… [options]\n\ncommands:\n${list.join('\n')}\n\nexamples:\n  stepscope analyze profile.sqlite\n  stepscope steps profile.sqlite --sequence\n  stepscope stats profile.sqlite -r cuda_gpu_kern_sum --format csv\n\nstepscope COMMAND --help says more.\n`;
}

function version(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
