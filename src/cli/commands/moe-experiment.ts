import { UserError } from '../../base/user-error.js';
import { experimentScript } from '../../moe/describe/describe-experiment.js';
import { planExperiment } from '../../moe/experiment/plan-experiment.js';
import { define } from '../command.js';
import { machineOf } from '../moe/machine.js';
import { aboutPair, type PairFiles, runExperiment } from '../moe/run-experiment.js';
import { runServedExperiment, servedExperiment, servedOptions } from '../moe/run-served.js';
import { machineOptions } from '../options.js';
import { routerPairResult } from '../router-pair-result.js';

export const moeExperiment = define({
  usage: [
    '[--run | --dry-run] [--repeats N] [--record A-B] -- COMMAND…',
    '--learned FILE… --perfect FILE… [options]',
  ],
  options: [
    ...(['run', 'dryRun', 'repeats', 'record', 'logs'] as const),
    ...servedOptions,
    ...(['learned', 'perfect', 'learnedLoads', 'perfectLoads', ...machineOptions] as const),
  ],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  takesProgram: true,
  examples: [
    [
      'stepscope moe experiment --dry-run -- trtllm-bench --model M throughput --dataset d.txt',
      'print both runs as a script',
    ],
    ['stepscope moe experiment --run -- trtllm-bench --model M throughput --dataset d.txt', 'run both'],
    [
      'stepscope moe experiment --repeats 3 -- trtllm-serve M',
      'a server: started, loaded with the same requests, measured and stopped, in turns',
    ],
    ['stepscope moe experiment --learned a.json --perfect b.json', 'compare existing results'],
  ],
  async run({ values, given, program, destination, output, emit }) {
    if (given.length > 0)
      throw new UserError(
        'usage',
        `Unexpected argument ${JSON.stringify(given[0])} before --.`,
        'Write the command after --, results after --learned and --perfect.',
      );
    const settings = machineOf(values);
    const { logs: folder, repeats } = values;
    let pair: PairFiles = values;
    if (values.learned.length === 0 && values.perfect.length === 0) {
      const [window] = values.record ?? [];
      const record = window && `${window.first}-${window.last}`;
      const served = servedExperiment(program, values);
      const about = served ? { env: served.env, isServer: true } : {};
      const plan = planExperiment({ command: program, repeats, folder, record, ...about });
      if (values.dryRun || !(values.run || served)) {
        output.out(experimentScript(plan, folder, served?.load));
        // Hours of a machine, with wrong answers, are not begun by a line that used to print; once it was said, they may be.
        if (!values.dryRun)
          output.err(
            'stepscope: nothing was run. The next version runs the pair by default; use --dry-run to print it, --run to run it now.\n',
          );
        return 0;
      }
      pair = served
        ? await runServedExperiment(plan, served, folder, output)
        : await runExperiment(plan, folder, output);
    }
    const { learned: normal, perfect } = pair;
    // One document for machines; the rest is for people.
    const isJson = destination.format === 'json';
    const result = await routerPairResult({ normal, perfect }, output);
    const further = isJson ? [] : await aboutPair(pair, settings, output);
    await emit({ ...result, blocks: () => [...result.blocks(), ...further] });
    return 0;
  },
});
