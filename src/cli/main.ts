/** The `stepscope` command: finds the verb, prints errors in two lines, sets the exit status. */
import { UserError } from '../base/user-error.js';
import { type Command, helpText, type Output } from './command.js';
import { processOutput } from './output.js';
import { version } from './version.js';

/** The verbs. Each is loaded when it is asked for: what the others bring along costs a tenth of a second. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  analyze: async () => (await import('./commands/analyze.js')).analyze,
  report: async () => (await import('./commands/report.js')).report,
  compare: async () => (await import('./commands/compare.js')).compare,
  view: async () => (await import('./commands/view.js')).view,
  steps: async () => (await import('./commands/steps.js')).steps,
  info: async () => (await import('./commands/info.js')).info,
  stats: async () => (await import('./commands/stats.js')).stats,
  bench: async () => (await import('./commands/bench.js')).bench,
  moe: async () => (await import('./commands/moe.js')).moe,
  families: async () => (await import('./commands/families.js')).families,
  frameworks: async () => (await import('./commands/frameworks.js')).frameworks,
  check: async () => (await import('./commands/check.js')).check,
  baseline: async () => (await import('./commands/baseline.js')).baseline,
  trend: async () => (await import('./commands/trend.js')).trend,
  load: async () => (await import('./commands/load.js')).load,
  capture: async () => (await import('./commands/capture.js')).capture,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  dataset: async () => (await import('./commands/dataset.js')).dataset,
  redact: async () => (await import('./commands/redact.js')).redact,
};

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
      output.out(await overview());
      return 0;
    }
    const verb = name === 'help' ? rest[0] : name;
    if (!Object.hasOwn(commands, verb)) {
      throw new UserError(
        'usage',
        `There is no command ${JSON.stringify(name)}.`,
        `Commands: ${Object.keys(commands).join(', ')}; see stepscope --help`,
      );
    }
    const command = await commands[verb]();
    // What follows -- is another program's: its --help is not ours.
    const own = rest.includes('--') ? rest.slice(0, rest.indexOf('--')) : rest;
    if (name === 'help' || own.includes('--help') || own.includes('-h')) {
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

async function overview(): Promise<string> {
  const loaded = await Promise.all(Object.values(commands).map(load => load()));
  const width = Math.max(...loaded.map(command => command.name.length));
  const list = loaded.map(command => `  ${command.name.padEnd(width)}  ${command.summary}`);
  return `stepscope ${version()}: where every microsecond of an LLM inference step goes\n\nusage: stepscope COMMAND FILE… [options]\n\ncommands:\n${list.join('\n')}\n\nexamples:\n  stepscope analyze profile.sqlite\n  stepscope compare before.sqlite after.sqlite\n  stepscope steps profile.sqlite --sequence\n  stepscope stats profile.sqlite -r cuda_gpu_kern_sum --format csv\n\nstepscope COMMAND --help says more.\n`;
}
