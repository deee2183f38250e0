import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { MOST_YAML_BYTES } from '../../base/yaml-text.js';
import { findBaseline } from '../../gate/baselines.js';
import { checkRuns, exitCodeOf } from '../../gate/check.js';
import { checkAnnotations, checkCases } from '../../gate/check-cases.js';
import { checkDocument } from '../../gate/check-document.js';
import { checkFigures } from '../../gate/check-figures.js';
import { readDifferenceKinds } from '../../gate/comparable.js';
import { describeCheck } from '../../gate/describe-check.js';
import { initialPolicy } from '../../gate/init-policy.js';
import { baselineWanted, parseGatePolicy } from '../../gate/policy.js';
import { requireRepeats } from '../../gate/repeats.js';
import { renderAnnotations } from '../../report/github.js';
import { renderJunit } from '../../report/junit.js';
import { markdown } from '../../report/markdown.js';
import { renderPrometheus } from '../../report/prometheus.js';
import { metrics } from '../../run/metrics.js';
import { readBaselines } from '../baselines-file.js';
import { define } from '../command.js';
import { emit as emitTo } from '../emit.js';
import { listing } from '../listing.js';
import { measuredRun, measureRepeats, requireRun } from '../measured-run.js';
import { measureOptions } from '../options.js';
import { readBounded } from '../read-bounded.js';
import { version } from '../version.js';
import { writeResult } from '../write-result.js';

export const check = define({
  usage: ['FILE… --policy policy.yaml [--baseline NAME] [options]'],
  options: [
    ...([
      'policy',
      'baseline',
      'baselines',
      'repeat',
      'allowDifferent',
      'junit',
      'prometheus',
      'github',
    ] as const),
    ...(['initPolicy', 'metrics', ...measureOptions] as const),
  ],
  formats: ['table', 'json', 'markdown'],
  overwrites: true,
  // Whatever the user can mend is one code here: 1 and 2 are answers, and a bug must not look like a regression.
  failures: { mistake: 3, bug: 4 },
  notes: [
    ['exit code', '0 pass · 1 regression · 2 not comparable · 3 bad input'],
    ['with -o', 'the text is also printed; an existing file is overwritten'],
  ],
  examples: [
    ['stepscope check profile.sqlite --init > policy.yaml', 'generate limits to start from'],
    ['stepscope check profile.sqlite --policy policy.yaml', 'absolute limits'],
    [
      'stepscope check --bench result.json --policy policy.yaml --baseline main',
      'a benchmark result without a profile',
    ],
    ['stepscope check profile.sqlite --policy policy.yaml --baseline main', 'limits and a saved baseline'],
    [
      'stepscope check profile.sqlite --policy policy.yaml --baseline main --github --junit check.xml -o check.md',
      'all outputs for a pull request in one run',
    ],
  ],
  async run({ values, given, destination, output, emit }) {
    if (values.metrics) {
      const listed = metrics.map(({ id, unit, better, scope, about }) => ({
        id,
        unit,
        better,
        scope,
        about,
      }));
      const lines = listed.map(({ id, better, about }) => [id, better, about]);
      await emit(listing('metrics', { schema: 'stepscope-metrics/1', metrics: listed }, lines));
      return 0;
    }
    requireRun('check', given, values);
    const tool = `stepscope ${version()}`;
    if (values.initPolicy) {
      output.out(initialPolicy(await measuredRun(given, values, output), tool));
      return 0;
    }
    const { policy: file, github, junit, prometheus } = values;
    const { format } = destination;
    if (github && format !== 'table' && destination.file === undefined)
      throw new UserError(
        'usage',
        `--github and --${format} both write to standard output.`,
        `Write one to a file: --${format} -o FILE`,
      );
    if (file === undefined)
      throw new UserError(
        'usage',
        'No policy was given.',
        'Give --policy policy.yaml; --init prints a starting policy.',
      );
    // All that can be wrong is told before a large profile is read.
    const policy = parseGatePolicy(
      readBounded(file, MOST_YAML_BYTES, '--init prints a starting policy.'),
      file,
    );
    const allow = readDifferenceKinds(values.allowDifferent.flat());
    const name = baselineWanted(policy, values.baseline);
    const baseline =
      name === undefined ? undefined : findBaseline(readBaselines(values.baselines), name, values.baselines);
    const runs = await measureRepeats(given, values.repeat, values, output);
    requireRepeats(runs);
    const result = checkRuns(runs, policy, baseline, allow);
    if (junit !== undefined) writeResult(junit, renderJunit('stepscope', checkCases(result)), true, output);
    if (prometheus !== undefined)
      writeResult(prometheus, renderPrometheus(checkFigures(result)), true, output);
    const emitted = {
      blocks: () => describeCheck(result),
      document: () => checkDocument(result, tool, path.basename(file)),
      markdown: () => commentOf(markdown.render(describeCheck(result), { width: Infinity, color: false })),
    };
    await emit(emitted);
    if (destination.file !== undefined) await emitTo(emitted, { format: 'table', force: false }, output);
    if (github) output.out(renderAnnotations(checkAnnotations(result, file)));
    return exitCodeOf[result.verdict];
  },
});

/** The mark lets a job find its own comment; the empty one keeps names with an @ from calling anybody. */
const commentOf = (text: string) => `<!-- stepscope-check -->\n${text.replaceAll('@', '@<!-- -->')}`;
