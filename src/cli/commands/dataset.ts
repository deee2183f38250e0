import * as fs from 'node:fs';
import { formatBytes, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { type DatasetOptions, datasetLines, prepareDatasetCommand } from '../../capture/dataset.js';
import { define } from '../command.js';
import type { Output } from '../output.js';
import { unwritable } from '../write-result.js';

export const dataset = define({
  usage: ['--requests N --input-tokens LENGTH --output-tokens LENGTH [-o FILE] [options]'],
  options: [
    'datasetRequests',
    'inputTokens',
    'outputTokens',
    'datasetFile',
    'force',
    'seed',
    'vocab',
    'text',
  ],
  examples: [
    [
      'stepscope dataset --requests 1000 --input-tokens 1000 --output-tokens 1000 -o dataset.txt',
      'fixed lengths',
    ],
    [
      'stepscope dataset --requests 3000 --input-tokens normal:512:64 --output-tokens 128 -o dataset.txt',
      'normally distributed input lengths, fixed output length',
    ],
    [
      'stepscope dataset --requests 100 --input-tokens uniform:16-64 --output-tokens 32 --text | head -1',
      'text prompts',
    ],
  ],
  async run({ values, given, output }) {
    if (given.length > 0)
      throw new UserError(
        'usage',
        `Unexpected argument ${JSON.stringify(given[0])}.`,
        'See: stepscope dataset --help',
      );
    const { datasetFile: file, seed, text, vocab: vocabulary } = values;
    const options: DatasetOptions = {
      requests: needed('--requests', values.datasetRequests),
      input: needed('--input-tokens', values.inputTokens),
      output: needed('--output-tokens', values.outputTokens),
      ...{ seed, vocabulary, text },
    };
    if (file === undefined) {
      for (const line of datasetLines(options)) output.out(line);
      return 0;
    }
    const bytes = await writeLines(file, options, values.force, output);
    output.err(`wrote ${file} (${plural(options.requests, 'request')}, ${formatBytes(bytes)})\n`);
    const same = prepareDatasetCommand(options, file);
    if (same !== undefined) output.err(`with TensorRT-LLM: ${same}\n`);
    return 0;
  },
});

function needed<Value>(option: string, value: Value | undefined): Value {
  if (value !== undefined) return value;
  const example = 'stepscope dataset --requests 1000 --input-tokens 512 --output-tokens 128 -o dataset.txt';
  throw new UserError('usage', `${option} is missing.`, `For example: ${example}`);
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
  let handle: fs.promises.FileHandle | undefined;
  let bytes = 0;
  try {
    handle = await fs.promises.open(file, force ? 'w' : 'wx');
    let [gathered, done] = ['', 0];
    for (const line of datasetLines(options)) {
      gathered += line;
      if (++done < options.requests && gathered.length < CHUNK) continue;
      bytes += (await handle.write(gathered)).bytesWritten;
      gathered = '';
      output.progress(`writing ${file}`, done / options.requests);
    }
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    output.clearProgress();
    await handle?.close();
  }
  return bytes;
}
