import { Analyzer } from '../../analyze/analysis.js';
import { changesOf } from '../../analyze/whatif/changes.js';
import { whatifBlocks } from '../../analyze/whatif/describe-whatif.js';
import { predictionSources, predictPhases } from '../../analyze/whatif/predict.js';
import { whatifDocument, whatifRows } from '../../analyze/whatif/whatif-document.js';
import { csvCell } from '../../base/csv-cell.js';
import { UserError } from '../../base/user-error.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';
import { readRouting } from '../routing-gain.js';
import { publishedSchema } from '../schema-file.js';

export const whatif = define({
  usage: ['FILE… [--graphs] [--async] [--fp8] [--batch N] [--no-gc] … [options]'],
  options: [
    ...([
      'ifGraphs',
      'ifAsync',
      'ifFp8',
      'ifBatch',
      'ifNoGc',
      'ifPinned',
      'ifFewerSyncs',
      'ifPerfectRouting',
      'ifNoProfiler',
    ] as const),
    ...analysisOptions,
    'model',
    'gpu',
    'gpus',
    'schema',
  ],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  notes: [
    ['several changes', 'applied together in one replay: gains do not add'],
    ['models', 'docs/gains.md describes each model, what it assumes and which measured pairs test it'],
  ],
  examples: [
    ['stepscope whatif eager.sqlite --graphs', 'the step time if decode ran as a CUDA graph'],
    ['stepscope whatif profile.sqlite --graphs --async --fp8', 'three changes together, and each alone'],
    ['stepscope whatif profile.sqlite --batch 64', 'step time and throughput at another batch size'],
    ['stepscope whatif profile.sqlite --no-gc --pinned --fewer-syncs', 'fixes in host code'],
    ['stepscope whatif rank0.sqlite loads.npy --gpus 8 --perfect-routing', 'with balanced experts'],
    [
      "stepscope whatif profile.sqlite --async --json | jq '.data.predictions[0].terms'",
      'for scripts; terms sum to changeNs',
    ],
  ],
  async run({ values, given, destination, output, emit }) {
    if (values.schema) {
      output.out(publishedSchema('whatif'));
      return 0;
    }
    requireFiles('whatif', given);
    const changes = changesOf({
      ...{ graphs: values.ifGraphs, async: values.ifAsync, fp8: values.ifFp8, batch: values.ifBatch },
      ...{ noGc: values.ifNoGc, pinned: values.ifPinned, fewerSyncs: values.ifFewerSyncs },
      ...{ perfectRouting: values.ifPerfectRouting, noProfiler: values.ifNoProfiler },
    });
    if (changes.length === 0)
      throw new UserError(
        'usage',
        'No change was given.',
        'For example: stepscope whatif profile.sqlite --graphs',
      );
    const { files, routingGain } = values.ifPerfectRouting
      ? await readRouting(given, values.gpus, output)
      : { files: given, routingGain: undefined };
    const analyzer = new Analyzer(await profileFor(files, predictionSources, output), settingsOf(values));
    const predictions = predictPhases(analyzer, changes, {
      ...(routingGain ? { routingGain } : {}),
      ...(values.ifBatch ? { batch: values.ifBatch } : {}),
    });
    await emit({
      blocks: () => whatifBlocks(predictions),
      document: () => whatifDocument(analyzer.profile.capture.files, predictions),
      csv: () =>
        `${whatifRows(predictions)
          .map(row => row.map(cell => csvCell(String(cell))).join(','))
          .join('\n')}\n`,
      view: { files },
    });
    if (destination.format !== 'json') tellLosses(analyzer.profile, output);
    return 0;
  },
});
