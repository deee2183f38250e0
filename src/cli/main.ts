/** The `stepscope` command. What finds verbs and reads options is loaded when there is more to do than say the version. */
import { watchOutput } from '../base/lost-output.js';
import { type Output, processOutput } from './output.js';
import { version } from './version.js';

export async function run(args: readonly string[]): Promise<void> {
  const output = processOutput();
  watchOutput(error =>
    import('./dispatch.js').then(({ sayRefused }) => process.exit(sayRefused(error, output))),
  );
  // Nothing is left to do then: taking V8's heap apart first takes milliseconds.
  process.once('beforeExit', () => process.exit());
  process.exitCode = await runCommand(args, output);
}

export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  if (args[0] !== '--version' && args[0] !== '-V')
    return (await import('./dispatch.js')).dispatch(args, output);
  output.out(`stepscope ${version()}\n`);
  return 0;
}
