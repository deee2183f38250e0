/** Words that other tools and guides use for what Stepscope has, by its own name for it. */

/** Commands: nsys, perf, git and the guides call them so. */
const commandWords: Readonly<Record<string, string>> = {
  diff: 'compare',
  profile: 'capture',
  record: 'capture',
  trace: 'capture',
  launch: 'capture',
  open: 'view',
  ui: 'view',
  timeline: 'view',
  serve: 'view',
  summary: 'analyze',
  benchmark: 'load',
  anonymize: 'redact',
  sanitize: 'redact',
  gate: 'check',
  predict: 'whatif',
  'prepare-dataset': 'dataset',
};

/** Commands that several of ours do, each in its way. */
const commandAnswers: Readonly<Record<string, string>> = {
  import: 'Stepscope reads files directly: stepscope FILE.',
  convert: 'Stepscope reads files directly: stepscope FILE.',
};

/** What to use instead of an unknown command, as a sentence. */
export function commandElsewhere(word: string): string | undefined {
  const wanted = word.toLowerCase();
  if (Object.hasOwn(commandAnswers, wanted)) return commandAnswers[wanted];
  return Object.hasOwn(commandWords, wanted) ? `Did you mean ${commandWords[wanted]}?` : undefined;
}

/** Options: the first of ours that the command has. */
const optionWords: Readonly<Record<string, readonly (readonly [flag: string, use: string])[]>> = {
  'num-requests': [['requests', '--requests N.']],
  'num-prompts': [['requests', '--requests N.']],
  'request-count': [['requests', '--requests N.']],
  'input-mean': [['input-tokens', '--input-tokens normal:MEAN:DEVIATION, or one number.']],
  'input-stdev': [['input-tokens', '--input-tokens normal:MEAN:DEVIATION.']],
  'output-mean': [['output-tokens', '--output-tokens normal:MEAN:DEVIATION, or one number.']],
  'output-stdev': [['output-tokens', '--output-tokens normal:MEAN:DEVIATION.']],
  'input-len': [['input-tokens', '--input-tokens N.']],
  'output-len': [['output-tokens', '--output-tokens N.']],
  isl: [['input-tokens', '--input-tokens N.']],
  osl: [['output-tokens', '--output-tokens N.']],
  concurrency: [['levels', '--levels concurrent:N.']],
  'max-concurrency': [['levels', '--levels concurrent:N.']],
  'request-rate': [['levels', '--levels sustained:N/s.']],
  'random-seed': [['seed', '--seed N.']],
  'python-gil': [['gil', '--gil.']],
  'gpu-metrics-devices': [['gpu-metrics', '--gpu-metrics.']],
  'pod-name': [['pod', '--pod NAME.']],
  overwrite: [['force', '--force.']],
  'force-overwrite': [['force', '--force.']],
  report: [['only', '--only LIST.']],
  stdout: [['output', '-o -.']],
};

/** `flags`: what the command takes. */
export const optionElsewhere = (word: string, flags: readonly string[]): string | undefined =>
  Object.hasOwn(optionWords, word)
    ? optionWords[word].find(([flag]) => flags.includes(flag))?.[1]
    : undefined;
