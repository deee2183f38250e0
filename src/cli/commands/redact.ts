import * as fs from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { redactProfile } from '../../redact/redact.js';
import { checkText, removalsText } from '../../redact/removals-text.js';
import { define, requireFiles } from '../command.js';

export const redact = define({
  usage: ['FILE -o OUT [options]', '--check FILE'],
  options: ['copy', 'checkOnly', 'hashRanges', 'force'],
  formats: ['table', 'json'],
  examples: [
    ['stepscope redact profile.sqlite -o shared.sqlite.gz', 'an Nsight Systems export, written compressed'],
    ['stepscope redact trace.json.gz -o shared.json.gz', 'a PyTorch trace: removes folders from file names'],
    [
      'stepscope redact profile.sqlite -o shared.sqlite --hash-ranges',
      'also hide the names of your own NVTX ranges',
    ],
    ['stepscope redact bench.log -o shared.log', 'a benchmark log or result: keeps metrics, removes paths'],
    ['stepscope redact --check shared.sqlite', 'check whether a file is safe to share; exit code 1 if not'],
  ],
  notes: [['--check', 'exit code 0: safe to share; 1: contains data that redaction removes']],
  async run({ values: { copy, checkOnly, hashRanges, force }, given, output, emit }) {
    requireFiles('redact', given);
    const [input] = given;
    if (given.length > 1)
      throw new UserError(
        'usage',
        'redact takes one profile at a time.',
        'Run it once per file, each with its own -o.',
      );
    if (!copy && !checkOnly)
      throw new UserError(
        'usage',
        'No output file was given.',
        `For example: stepscope redact ${input} -o shared.sqlite.gz`,
      );
    const onProgress = (done: number) => output.progress(`redacting ${input}`, done);
    const target = checkOnly ? undefined : copy;
    const removed = await redactProfile({ input, output: target, hashRanges, force, onProgress });
    output.clearProgress();
    const sizeBytes = fs.statSync(target ?? input).size;
    await emit({
      blocks: () => [],
      document: () => ({ schema: 'stepscope-redact/1', file: target ?? input, sizeBytes, removed }),
      text: () =>
        target === undefined ? checkText(removed, input) : removalsText(removed, target, sizeBytes),
    });
    return target === undefined && removed.length > 0 ? 1 : 0;
  },
});
