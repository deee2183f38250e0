import { listBaselines } from '../../gate/describe-baseline.js';
import { readBaselines } from '../baselines-file.js';
import { define } from '../command.js';

export const baselineList = define({
  usage: ['[options]'],
  options: ['baselines'],
  formats: ['table', 'json', 'markdown'],
  examples: [['stepscope baseline list', 'names, runs, GPUs, steps, engines']],
  async run({ values, emit }) {
    const { baselines } = readBaselines(values.baselines);
    await emit({
      blocks: () => [listBaselines(baselines)],
      document: () => ({
        schema: 'stepscope-baseline-list/1',
        baselines: baselines.map(({ name, tool, runs }) => ({
          ...{ key: name, name, tool, runs: runs.length, facts: runs[0].facts },
        })),
      }),
    });
    return 0;
  },
});
