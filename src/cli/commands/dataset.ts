import * as fs from 'node:fs';
import { formatBytes, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import {
  type DatasetOptions,
  datasetLines,
  prepareDatasetCommand,
  readLengths,
} from '../../capture/dataset.js';
import { readArguments } from '../arguments.js';
import type { Command, Output } from '../command.js';

export const dataset: Command = {
  name: 'dataset',
  summary: 'Write synthetic requests for trtllm-bench: drawn lengths, the same for the same seed.',
  usage: 'stepscope dataset --requests N --input LENGTHS --output LENGTHS -o FILE [options]',
  options: [
    { flags: '--requests N', meaning: 'how many' },
    { flags: '--input LENGTHS', meaning: 'tokens in: 512, normal:MEAN:DEVIATION or uniform:LEAST:MOST' },
    { flags: '--output LENGTHS', meaning: 'tokens out, likewise' },
    { flags: '-o, --file FILE', meaning: 'where to; standard output otherwise' },
    { flags: '--force', meaning: 'overwrite FILE if it is there' },
    { flags: '--seed N', meaning: 'another draw (1)' },
    { flags: '--vocab N', meaning: 'token ids are below it (32000)' },
    { flags: '--text', meaning: 'prompts of words, about a token each, instead of token ids' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope dataset --requests 1000 --input 1000 --output 1000 -o dataset.txt', 'all the same length'],
    [
      'stepscope dataset --requests 3000 --input normal:512:64 --output 128 --seed 1 --vocab 32000 -o dataset.txt',
      'normal lengths in, fixed out',
    ],
    [
      'stepscope dataset --requests 100 --input uniform:16:64 --output 32 --text | head -1',
      'text to look at',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('dataset', args, {
      requests: { type: 'string' },
      input: { type: 'string' },
      output: { type: 'string' },
      file: { type: 'string', short: 'o' },
      force: { type: 'boolean' },
      seed: { type: 'string' },
      vocab: { type: 'string' },
      text: { type: 'boolean' },
    });
    if (positionals.length > 0)
      throw new UserError(
        'usage',
        `${JSON.stringify(positionals[0])} is no option.`,
        'See: stepscope dataset --help',
      );
    const options: DatasetOptions = {
      requests: readWhole('--requests', need('--requests', values.requests), 1, 1e7),
      input: readLengths('--input', need('--input', values.input)),
      output: readLengths('--output', need('--output', values.output)),
      seed: readWhole('--seed', values.seed ?? '1', 0, 2 ** 32 - 1),
      vocabulary: readWhole('--vocab', values.vocab ?? '32000', 2, 1e7),
      text: values.text ?? false,
    };
    if (values.file === undefined) {
      for (const line of datasetLines(options)) output.out(line);
      return 0;
    }
    const bytes = await writeLines(values.file, options, values.force ?? false, output);
    output.err(`wrote ${values.file} (${plural(options.requests, 'request')}, ${formatBytes(bytes)})\n`);
    const same = prepareDatasetCommand(options, values.file);
    if (same !== undefined) output.err(`with TensorRT-LLM: ${same}\n`);
    return 0;
  },
};

function need(option: string, value: string | undefined): string {
  if (value !== undefined) return value;
  throw new UserError(
    'usage',
    `${option} was not given.`,
    'For example: stepscope dataset --requests 1000 --input normal:512:64 --output 128 -o dataset.txt',
  );
}

function readWhole(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return number;
  throw new UserError(
    'usage',
    `${option} ${JSON.stringify(text)} is no whole number from ${least} to ${most}.`,
    'See: stepscope dataset --help',
  );
}

/** Bytes to gather before they are written. */
const CHUNK = 1 << 20;

/** Written as it is drawn: memory does not grow with the number of requests. */
async function writeLines(
  file: string,
  options: DatasetOptions,
  force: boolean,
  output: Output,
): Promise<number> {
  let handle: fs.promises.FileHandle;
  try {
    handle = await fs.promises.open(file, force ? 'w' : 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new UserError(
        'usage',
        `${file} is there already.`,
        'Choose another -o, or overwrite with --force.',
      );
    throw new UserError(
      'usage',
      `${file} cannot be written: ${(error as Error).message}`,
      'Check the folder given with -o.',
    );
  }
  let bytes = 0;
  try {
    let gathered: string[] = [];
    let size = 0;
    let done = 0;
    const flush = async () => {
      bytes += (await handle.write(gathered.join(''))).bytesWritten;
      gathered = [];
      size = 0;
      output.progress(`writing ${file}`, done / options.requests);
    };
    for (const line of datasetLines(options)) {
      gathered.push(line);
      size += line.length;
      done++;
      if (size > CHUNK) await flush();
    }
    await flush();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new UserError('no-space', `${file}: no room is left.`, 'Choose another -o, or fewer requests.');
    throw error;
  } finally {
    output.clearProgress();
    await handle.close();
  }
  return bytes;
}
