import { Analyzer, type Settings } from '../../analyze/analysis.js';
import { explainKernel } from '../../analyze/explain-kernel.js';
import { capturedGraphs } from '../../analyze/host/captured-graphs.js';
import { analyses, chooseAnalyses, usualAnalyses } from '../../analyze/index.js';
import { shapesToRead } from '../../analyze/inference/multiplied-sizes.js';
import { UserError } from '../../base/user-error.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import { createClassifier } from '../../catalog/kernels/classify.js';
import { hasPlugins } from '../../plugins/install-plugin.js';
import { helpAhead } from '../../threads/help-ahead.js';
import { type AnalyzedProfile, analyzedResult, isOnPage } from '../analyzed-result.js';
import { define, requireFiles } from '../command.js';
import { listing } from '../listing.js';
import { analysisOptions } from '../options.js';
import type { Output } from '../output.js';
import { profileFor, runAll, settingsOf, tellLosses } from '../profile-of.js';
import { publishedSchema } from '../schema-file.js';

/** The graphs of a trace of their capture, for analyses of their replays. */
async function capturedIn(file: string | undefined, output: Output): Promise<Settings> {
  if (file === undefined) return {};
  const profile = await profileFor([file], [capturedGraphs], output);
  const graphs = new Analyzer(profile, { whole: true }).getIfRecorded(capturedGraphs) ?? [];
  if (graphs.length === 0)
    throw new UserError(
      'usage',
      `${file} contains no graph capture with operators.`,
      howToRecord.graphCapture,
    );
  return { capturedGraphs: graphs };
}

export const analyze = define({
  usage: ['FILE… [--only ID[,ID…]] [options]'],
  options: [
    ...analysisOptions,
    ...([
      'model',
      'gpu',
      'tp',
      'checklist',
      'only',
      'graphCapture',
      'rows',
      'why',
      'analysisSchema',
      'list',
      'outputFiles',
      'force',
    ] as const),
  ],
  formats: ['table', 'json', 'csv', 'markdown'],
  examples: [
    ['stepscope analyze profile.sqlite', 'summary: findings, budget, kernels, steps'],
    ['stepscope analyze rank*.json.gz --phase decode', 'all ranks as one run, decode steps only'],
    [
      'stepscope analyze profile.sqlite server.log bench.json',
      'with the step time measured without a profiler',
    ],
    ['stepscope analyze profile.sqlite --only step-budget --csv', 'one row per step and device'],
    [
      'stepscope analyze profile.sqlite --json | jq \'.data.analyses["kernel-families"].rows\'',
      'for scripts',
    ],
    ['stepscope analyze trace.json.gz --only operators', 'operators by shape, with TFLOP/s and TB/s'],
    ['stepscope analyze profile.sqlite --model llama-3.1-8b', 'compare step time with the speed of light'],
  ],
  async run({ values, given, destination, output, emit }) {
    const settings = settingsOf(values);
    if (values.list) {
      const listed = analyses.map(({ id, title, question }) => ({ id, title, question }));
      const lines = listed.map(({ id, question }) => [id, question]);
      await emit(listing('analyses', { schema: 'stepscope-analyze-list/1', analyses: listed }, lines));
    } else if (values.analysisSchema !== undefined) {
      output.out(publishedSchema(chooseAnalyses([values.analysisSchema])[0].id));
    } else if (values.why !== undefined) {
      const kernel = values.why;
      const explanation = createClassifier(settings.kernelRules).explain(kernel);
      await emit({
        blocks: () => [explainKernel(kernel, explanation)],
        document: () => ({ schema: 'stepscope-kernel-family/1', kernel, ...explanation }),
      });
    } else {
      const { csv, json } = { csv: destination.format === 'csv', json: destination.format === 'json' };
      const asked = [...values.only.flat(), ...(values.checklist ? ['checklist'] : [])];
      const chosen = asked.length > 0 ? chooseAnalyses(asked) : usualAnalyses;
      requireFiles('analyze', given);
      if (csv && chosen.length > 1 && values.outputFiles === undefined)
        throw new UserError(
          'usage',
          'CSV output contains the rows of a single analysis.',
          'Add --only step-budget (see --list), or -o PREFIX to write one file per analysis.',
        );
      const analyzer = new Analyzer(
        await profileFor(given, values.model === undefined ? chosen : [...chosen, shapesToRead], output),
        { ...settings, ...(await capturedIn(values.graphCapture, output)) },
      );
      if (asked.length === 0 && !hasPlugins()) await helpAhead(analyzer);
      const isPage = asked.length === 0 && !csv && !json;
      const outcomes = runAll(analyzer, isPage ? usualAnalyses.filter(isOnPage) : chosen, output);
      const analyzed: AnalyzedProfile = { analyzer, outcomes, isPage, rowLimit: values.rows, files: given };
      await emit(analyzedResult(analyzed, output));
      if (!json) tellLosses(analyzer.profile, output);
    }
    return 0;
  },
});
