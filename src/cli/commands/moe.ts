import { UserError } from '../../base/user-error.js';
import { type MappingFormat, mappingFormats, readMappingFormat } from '../../moe/placement/export-mapping.js';
import { readArguments } from '../arguments.js';
import type { Command, Output } from '../command.js';
import { moeExperiment } from '../moe/moe-experiment.js';
import { count, machineHelp, machineOptions, readMachine } from '../moe/moe-options.js';
import { moePage } from '../moe/moe-page.js';
import { moePlace, requireOneFormat } from '../moe/moe-place.js';

const formats = ['table', 'json', 'csv', 'markdown'] as const;
type Format = (typeof formats)[number];

export const moe: Command = {
  name: 'moe',
  summary: 'Say whether uneven routing to experts is the bottleneck, what it costs and what would fix it.',
  usage: `stepscope moe FILE… [options]
       stepscope moe place FILE… --gpus N [--replicas N] [--for ENGINE[,ENGINE…] -o FOLDER]
       stepscope moe experiment [--run] [--repeats N] [--record A-B] -- COMMAND…
       stepscope moe experiment --learned FILE… --perfect FILE…`,
  options: [
    ...machineHelp,
    { flags: '--json, --csv, --markdown', meaning: 'for machines, spreadsheets, pull requests' },
    { flags: '--html FILE', meaning: 'one page with heat maps, readable without this tool' },
    { flags: '--all', meaning: 'every layer and GPU in the tables' },
    { flags: '--force', meaning: 'overwrite files that are there' },
    {
      flags: '--for LIST',
      meaning: `place: write the best mapping for ${Object.keys(mappingFormats).join(', ')}`,
    },
    {
      flags: '-o, --output FOLDER',
      meaning: 'place: where mappings go; experiment: where logs go (default perfect-router)',
    },
    { flags: '--sweep', meaning: 'place: 8 to 288 GPUs, replicas, batch sizes, each phase for itself' },
    {
      flags: '--tokens N',
      meaning: 'place: tokens a GPU brings to a layer, for traffic (default: as measured)',
    },
    { flags: '--hidden N', meaning: 'place: width of the model, for traffic (default 7168)' },
    { flags: '--top-groups N', meaning: 'place: groups a token may use (DeepSeek-V3: 4), for traffic' },
    { flags: '--top-k N', meaning: 'experts per token, where the file does not say' },
    { flags: '--run', meaning: 'experiment: run the pair instead of printing it; no shell is used' },
    { flags: '--repeats N', meaning: 'experiment: runs of each router, in turns (default 3)' },
    {
      flags: '--record A-B',
      meaning: 'experiment: one more run of each that counts experts in these iterations',
    },
    {
      flags: '--learned, --perfect FILE',
      meaning: 'experiment: results or profiles that are there; may be repeated',
    },
    {
      flags: '--learned-loads, --perfect-loads FILE',
      meaning: 'experiment: counts of the two, to check balance and predict',
    },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope moe expert_statistic/ --gpus 32', 'counts of TensorRT-LLM (EXPERT_STATISTIC_PATH)'],
    ['stepscope moe loads.npy profile.sqlite', 'with a profile: what it costs in steps'],
    ['stepscope moe server.log --expert-share 0.4', 'balance as vLLM or SGLang logged it'],
    ['stepscope moe rank*.sqlite', 'no counts: inferred from the time of ranks'],
    ['stepscope moe loads.npy --html moe.html', 'heat maps, to pass on'],
    [
      'stepscope moe place loads.npy --gpus 32 --nodes 4 --replicas 32 --groups 8 --for trtllm,sglang -o maps',
      'mappings engines load',
    ],
    [
      'stepscope moe experiment -- trtllm-bench --model M throughput --dataset d.txt',
      'print the perfect-router pair',
    ],
    ['stepscope moe experiment --learned a.json --perfect b.json', 'the verdict on a pair that was run'],
  ],
  async run(args, output) {
    const [first, ...rest] = args;
    if (first === 'place') return place(rest, output);
    if (first === 'experiment') return experiment(rest, output);
    const { values, positionals } = readArguments('moe', args, {
      ...machineOptions,
      ...formatOptions,
      html: { type: 'string' },
      all: { type: 'boolean' },
      force: { type: 'boolean' },
    });
    requireLoads(positionals);
    return moePage(
      positionals,
      readMachine(values),
      {
        format: formatOf(values),
        force: values.force === true,
        all: values.all === true,
        ...(values.html === undefined ? {} : { html: values.html }),
      },
      output,
    );
  },
};

const formatOptions = {
  json: { type: 'boolean' },
  csv: { type: 'boolean' },
  markdown: { type: 'boolean' },
} as const;

function formatOf(values: { json?: boolean; csv?: boolean; markdown?: boolean }): Format {
  const asked = (['json', 'csv', 'markdown'] as const).filter(name => values[name]);
  if (asked.length > 1)
    throw new UserError('usage', 'Several formats were asked for.', `Use one of: ${formats.join(', ')}`);
  return asked[0] ?? 'table';
}

function requireLoads(files: readonly string[]): void {
  if (files.length === 0)
    throw new UserError(
      'usage',
      'No counts of experts and no profile were given.',
      'For example: stepscope moe loads.npy',
    );
}

async function place(args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = readArguments('moe place', args, {
    ...machineOptions,
    ...formatOptions,
    for: { type: 'string', multiple: true },
    output: { type: 'string', short: 'o' },
    force: { type: 'boolean' },
    sweep: { type: 'boolean' },
    tokens: { type: 'string' },
    hidden: { type: 'string' },
    'top-k': { type: 'string' },
    'top-groups': { type: 'string' },
  });
  requireLoads(positionals);
  const engines: MappingFormat[] = (values.for ?? []).flatMap(part => part.split(',')).map(readMappingFormat);
  requireOneFormat(engines, values.output);
  const tokens = count('--tokens', values.tokens);
  const topK = count('--top-k', values['top-k']);
  const topGroups = count('--top-groups', values['top-groups']);
  return moePlace(
    positionals,
    readMachine(values),
    {
      format: formatOf(values),
      engines,
      folder: values.output ?? '.',
      force: values.force === true,
      sweep: values.sweep === true,
      hidden: count('--hidden', values.hidden) ?? 7168,
      ...(tokens === undefined ? {} : { tokens }),
      ...(topK === undefined ? {} : { topK }),
      ...(topGroups === undefined ? {} : { topGroups }),
    },
    output,
  );
}

async function experiment(args: readonly string[], output: Output): Promise<number> {
  const border = args.indexOf('--');
  const own = border < 0 ? args : args.slice(0, border);
  const list = { type: 'string', multiple: true } as const;
  const { values, positionals } = readArguments('moe experiment', own, {
    ...machineOptions,
    json: { type: 'boolean' },
    markdown: { type: 'boolean' },
    run: { type: 'boolean' },
    repeats: { type: 'string' },
    record: { type: 'string' },
    output: { type: 'string', short: 'o' },
    learned: list,
    perfect: list,
    'learned-loads': list,
    'perfect-loads': list,
  });
  if (positionals.length > 0)
    throw new UserError(
      'usage',
      `${JSON.stringify(positionals[0])} stands before --.`,
      'Write the command after --, results after --learned and --perfect.',
    );
  return moeExperiment(
    {
      command: border < 0 ? [] : args.slice(border + 1),
      repeats: count('--repeats', values.repeats) ?? 3,
      run: values.run === true,
      folder: values.output ?? 'perfect-router',
      learned: values.learned ?? [],
      perfect: values.perfect ?? [],
      learnedLoads: values['learned-loads'] ?? [],
      perfectLoads: values['perfect-loads'] ?? [],
      format: formatOf(values) as 'table' | 'json' | 'markdown',
      ...(values.record === undefined ? {} : { record: values.record }),
    },
    readMachine(values),
    output,
  );
}
