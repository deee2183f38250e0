import { describeCapture, summarizeCapture } from '../../analyze/info.js';
import { describeRecipe } from '../../capture/describe-recipe.js';
import { recipeBesideAny } from '../../capture/run/write-recipe.js';
import { define, requireFiles } from '../command.js';
import { profileOf } from '../profile-of.js';

export const info = define({
  usage: ['FILE… [options]'],
  options: [],
  formats: ['table', 'json', 'markdown'],
  examples: [
    [
      'stepscope info profile.sqlite',
      'an Nsight Systems export (profile.nsys-rep also works if nsys is installed)',
    ],
    ['stepscope info traces/', 'a folder: all ranks merged into one profile'],
    ['stepscope info rank0.json.gz rank1.json.gz --json', 'two PyTorch traces of one run, for a script'],
  ],
  async run({ given, output, emit }) {
    requireFiles('info', given);
    const summary = summarizeCapture(await profileOf(given, output));
    const recipe = await recipeBesideAny(given);
    await emit({
      blocks: () => [...describeCapture(summary), ...(recipe ? [describeRecipe(recipe)] : [])],
      document: () => ({ schema: 'stepscope-info/1', ...summary, ...(recipe ? { recipe } : {}) }),
    });
    return 0;
  },
});
