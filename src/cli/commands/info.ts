import { describeCapture, summarizeCapture } from '../../analyze/info.js';
import { openProfile } from '../../import/open.js';
import { text } from '../../report/text.js';
import { readArguments, requireFiles } from '../arguments.js';
import type { Command } from '../command.js';
import { recipeBlock, recipeOf } from '../recipe-facts.js';

export const info: Command = {
  name: 'info',
  summary: 'Say what a profile holds, what it does not, and how to record what is missing.',
  usage: 'stepscope info FILE… [--json]',
  options: [
    { flags: '--json', meaning: 'everything as JSON' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    [
      'stepscope info profile.sqlite',
      'an Nsight Systems export (profile.nsys-rep works too where nsys is installed)',
    ],
    ['stepscope info traces/', 'a folder: all its ranks, merged into one profile'],
    ['stepscope info rank0.json.gz rank1.json.gz --json', 'two PyTorch traces of one run, for a script'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('info', args, { json: { type: 'boolean' } });
    requireFiles('info', positionals);
    const profile = await openProfile(positionals, {
      onProgress: (file, done) => output.progress(`reading ${file}`, done),
    });
    output.clearProgress();
    const summary = summarizeCapture(profile);
    const recipe = await recipeOf(positionals);
    if (values.json) {
      const document = { schema: 'stepscope-info/1', ...summary, ...(recipe ? { recipe } : {}) };
      output.out(`${JSON.stringify(document, null, 2)}\n`);
    } else {
      const blocks = describeCapture(summary);
      output.out(text.render(recipe ? [...blocks, recipeBlock(recipe)] : blocks, output));
    }
    return 0;
  },
};
