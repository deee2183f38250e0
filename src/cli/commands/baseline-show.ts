import { findBaseline, requireName } from '../../gate/baselines.js';
import { describeBaseline } from '../../gate/describe-baseline.js';
import { readBaselines } from '../baselines-file.js';
import { define } from '../command.js';

export const baselineShow = define({
  usage: ['NAME [options]'],
  options: ['baselines'],
  formats: ['table', 'json', 'markdown'],
  examples: [['stepscope baseline show main', 'its metrics']],
  async run({ values: { baselines: file }, given: [name], emit }) {
    const found = findBaseline(readBaselines(file), requireName(name), file);
    await emit({
      blocks: () => describeBaseline(found),
      document: () => ({ schema: 'stepscope-baseline/1', ...found }),
    });
    return 0;
  },
});
