import { findBaseline, requireName } from '../../gate/baselines.js';
import { changeBaselines, readBaselines } from '../baselines-file.js';
import { define } from '../command.js';

export const baselineRemove = define({
  usage: ['NAME [options]'],
  options: ['baselines'],
  examples: [['stepscope baseline remove old', 'other baselines are unchanged']],
  async run({ values: { baselines: file }, given: [name], output }) {
    requireName(name);
    readBaselines(file);
    changeBaselines(file, known => {
      const found = findBaseline(known, name, file);
      return { baselines: known.baselines.filter(one => one !== found) };
    });
    output.err(`removed ${name} from ${file}\n`);
    return 0;
  },
});
