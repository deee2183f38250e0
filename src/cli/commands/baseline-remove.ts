import { findBaseline, requireName } from '../../gate/baselines.js';
import { readBaselines, writeBaselines } from '../baselines-file.js';
import { define } from '../command.js';

export const baselineRemove = define({
  usage: ['NAME [options]'],
  options: ['baselines'],
  examples: [['stepscope baseline remove old', 'the others stay as they are']],
  async run({ values: { baselines: file }, given: [name], output }) {
    const known = readBaselines(file);
    const found = findBaseline(known, requireName(name), file);
    writeBaselines(file, { baselines: known.baselines.filter(one => one !== found) });
    output.err(`removed ${found.name} from ${file}\n`);
    return 0;
  },
});
