import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { MOST_YAML_BYTES } from '../../base/yaml-text.js';
import { type Baseline, DEFAULT_BASELINES, findBaseline } from '../../gate/baselines.js';
import { type CheckResult, checkRuns, exitCodeOf } from '../../gate/check.js';
import { checkAnnotations, checkCases } from '../../gate/check-cases.js';
import { checkDocument } from '../../gate/check-document.js';
import { type DifferenceKind, differenceKinds } from '../../gate/comparable.js';
import { describeCheck } from '../../gate/describe-check.js';
import { initialPolicy } from '../../gate/init-policy.js';
import { type GatePolicy, isRelative, parseGatePolicy } from '../../gate/policy.js';
import { requireRepeats } from '../../gate/repeats.js';
import { renderAnnotations } from '../../report/github.js';
import { renderJunit } from '../../report/junit.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { metrics } from '../../run/metrics.js';
import type { Run } from '../../run/run.js';
import { readArguments, requireFiles } from '../arguments.js';
import { readBaselines, readBounded } from '../baselines-file.js';
import type { Command, Output } from '../command.js';
import {
  benchHelp,
  benchOptions,
  type MeasureValues,
  measureFiles,
  measureHelp,
  measureOptions,
} from '../measure-files.js';
import { version } from '../version.js';
import { writeResult } from '../write-result.js';

/** Whatever the user can mend is one code here: 1 and 2 are answers, and scripts must not take a slip for one. */
const BAD_INPUT = 3;
/** A bug of ours must not look like a regression either. */
const OUR_FAULT = 4;

export const check: Command = {
  name: 'check',
  summary: 'Hold a run against limits and a baseline; the exit code is the answer, for CI.',
  usage:
    'stepscope check FILE… --policy policy.yaml [--baseline NAME] [--baselines FILE] [--json | --markdown] [options]',
  options: [
    { flags: '--policy FILE', meaning: 'the limits, in YAML (see docs/gate.md)' },
    { flags: '--baseline NAME', meaning: 'what to compare with (default: the one the policy names)' },
    { flags: '--baselines FILE', meaning: `where baselines are (default ${DEFAULT_BASELINES})` },
    { flags: '--repeat FILE', meaning: 'another run of the same code; may be given again' },
    {
      flags: '--allow-different LIST',
      meaning: `compare although these differ: ${differenceKinds.map(({ id }) => id).join(', ')}`,
    },
    { flags: '--json', meaning: 'the result as JSON' },
    { flags: '--markdown', meaning: 'the result as Markdown, for a pull request' },
    { flags: '-o, --output FILE', meaning: 'write JSON or Markdown there, and print the text' },
    { flags: '--junit FILE', meaning: 'also write JUnit XML, a test case per limit' },
    { flags: '--github', meaning: 'also print annotations for GitHub Actions' },
    { flags: '--init', meaning: 'print a policy made from the figures of FILE' },
    { flags: '--metrics', meaning: 'list the metrics; needs no file' },
    benchHelp,
    ...measureHelp,
    { flags: '-h, --help', meaning: 'this text' },
    { flags: 'exit code', meaning: '0 pass · 1 regression · 2 not comparable · 3 bad input' },
  ],
  examples: [
    ['stepscope check profile.sqlite --init > policy.yaml', 'limits to begin with'],
    ['stepscope check profile.sqlite --policy policy.yaml', 'absolute limits'],
    [
      'stepscope check --bench result.json --policy policy.yaml --baseline main',
      'a benchmark, without a profile',
    ],
    [
      'stepscope check profile.sqlite --policy policy.yaml --baseline main',
      'and against a baseline saved before',
    ],
    [
      'stepscope check profile.sqlite --policy policy.yaml --baseline main --github --junit check.xml --markdown -o check.md',
      'everything a pull request needs, in one run',
    ],
  ],
  async run(args, output) {
    try {
      return await runCheck(args, output);
    } catch (error) {
      output.clearProgress();
      if (error instanceof UserError) {
        output.err(`stepscope: ${error.message}\n${error.hint}\n`);
        return BAD_INPUT;
      }
      output.err(`stepscope: failed, and this is a bug: ${(error as Error).stack}\n`);
      return OUR_FAULT;
    }
  },
};

async function runCheck(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments('check', args, {
    ...measureOptions,
    ...benchOptions,
    policy: { type: 'string' },
    baseline: { type: 'string' },
    baselines: { type: 'string' },
    repeat: { type: 'string', multiple: true },
    'allow-different': { type: 'string', multiple: true },
    json: { type: 'boolean' },
    markdown: { type: 'boolean' },
    output: { type: 'string', short: 'o' },
    junit: { type: 'string' },
    github: { type: 'boolean' },
    init: { type: 'boolean' },
    metrics: { type: 'boolean' },
  });
  if (values.metrics) return listMetrics(output, values.json === true);
  if (values.bench === undefined) requireFiles('check', positionals);
  const tool = `stepscope ${version()}`;
  if (values.init) {
    output.out(initialPolicy(await measureFiles(positionals, values, output), tool));
    return 0;
  }
  const form = formOf(values);
  const policyFile = values.policy;
  if (policyFile === undefined)
    throw new UserError(
      'usage',
      'No policy was given.',
      'Give --policy policy.yaml; --init prints one to begin with.',
    );
  // All that can be wrong is told before a large profile is read.
  const policy = parseGatePolicy(
    readBounded(policyFile, MOST_YAML_BYTES, '--init prints one to begin with.'),
    policyFile,
  );
  const allow = readKinds(values['allow-different'] ?? []);
  const baseline = chooseBaseline(policy, values.baseline, values.baselines);
  const runs = await measureAll(positionals, values.repeat ?? [], values, output);
  const result = checkRuns(runs, policy, baseline, allow);
  if (values.junit !== undefined)
    writeResult(values.junit, renderJunit('stepscope', checkCases(result)), true, output);
  const written = form && render(result, form, tool, path.basename(policyFile));
  if (written !== undefined && values.output !== undefined) writeResult(values.output, written, true, output);
  output.out(
    written !== undefined && values.output === undefined
      ? written
      : text.render(describeCheck(result), output),
  );
  if (values.github) output.out(renderAnnotations(checkAnnotations(result, policyFile)));
  return exitCodeOf[result.verdict];
}

async function measureAll(
  files: readonly string[],
  repeats: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<Run[]> {
  const runs = [await measureFiles(files, values, output)];
  const { bench, ...others } = values;
  // A repeat is of the kind the first run is: benchmarks of a benchmark, profiles of a profile.
  for (const file of repeats)
    runs.push(
      files.length === 0
        ? await measureFiles([], { bench: file }, output)
        : await measureFiles([file], others, output),
    );
  requireRepeats(runs);
  return runs;
}

type Form = 'json' | 'markdown';

function formOf(values: {
  json?: boolean;
  markdown?: boolean;
  output?: string;
  github?: boolean;
}): Form | undefined {
  const wrong = (what: string, hint: string) => new UserError('usage', what, hint);
  if (values.json && values.markdown) throw wrong('--json and --markdown are two forms.', 'Choose one.');
  const form = values.json ? 'json' : values.markdown ? 'markdown' : undefined;
  if (values.output !== undefined && !form)
    throw wrong('-o says where JSON or Markdown goes.', 'Add --json or --markdown.');
  if (values.github && form && values.output === undefined)
    throw wrong(
      `--github and --${form} would mix on standard output.`,
      `Write one to a file: --${form} -o FILE`,
    );
  return form;
}

function render(result: CheckResult, form: Form, tool: string, policyName: string): string {
  if (form === 'json') return `${JSON.stringify(checkDocument(result, tool, policyName), null, 1)}\n`;
  const comment = markdown.render(describeCheck(result), { width: Infinity, color: false });
  // The mark lets a job find its own comment; the empty one keeps names with an @ from calling anybody.
  return `<!-- stepscope-check -->\n${comment.replaceAll('@', '@<!-- -->')}`;
}

function chooseBaseline(
  policy: GatePolicy,
  named: string | undefined,
  file: string = DEFAULT_BASELINES,
): Baseline | undefined {
  const name = named ?? policy.baseline;
  if (name !== undefined) return findBaseline(readBaselines(file), name, file);
  const limit = policy.limits.find(({ kind }) => isRelative(kind));
  if (!limit) return undefined;
  throw new UserError(
    'usage',
    `Line ${limit.line} of the policy compares with a baseline (${limit.metric.id} ${limit.kind}), and none was given.`,
    'Name one with --baseline NAME, or in the policy: baseline: NAME',
  );
}

function readKinds(lists: readonly string[]): DifferenceKind[] {
  const names = lists.flatMap(list => list.split(',')).filter(name => name !== '');
  return names.map(name => {
    if (differenceKinds.some(({ id }) => id === name)) return name as DifferenceKind;
    throw new UserError(
      'usage',
      `${JSON.stringify(name)} is no difference between runs.`,
      `--allow-different takes: ${differenceKinds.map(({ id }) => id).join(', ')}`,
    );
  });
}

function listMetrics(output: Output, asJson: boolean): number {
  if (asJson) {
    const rows = metrics.map(({ id, unit, better, scope, about }) => ({ id, unit, better, scope, about }));
    output.out(`${JSON.stringify({ schema: 'stepscope-metrics/1', metrics: rows }, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...metrics.map(({ id }) => id.length));
  for (const { id, better, about } of metrics)
    output.out(`${id.padEnd(width)}  ${better.padEnd(6)}  ${about}\n`);
  return 0;
}
