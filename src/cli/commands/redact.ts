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
    ['stepscope redact profile.sqlite -o shared.sqlite.gz', 'an Nsight Systems export, packed on the way'],
    ['stepscope redact trace.json.gz -o shared.json.gz', 'a PyTorch trace: file names without their folders'],
    [
      'stepscope redact profile.sqlite -o shared.sqlite --hash-ranges',
      'also hides what your own NVTX ranges are called',
    ],
    ['stepscope redact bench.log -o shared.log', 'a benchmark log or result: figures, and no paths'],
    ['stepscope redact --check shared.sqlite', 'is it fit to share? exit 1 when something should go'],
  ],
  notes: [['--check', 'exit 0: fit to share; 1: it holds what a copy would not']],
  async run({ values: { copy, checkOnly, hashRanges, force }, given, output, emit }) {
    requireFiles('redact', given);
    const [input] = given;
    if (given.length > 1)
      throw new UserError('usage', 'One profile at a time.', 'Run it once per file, each with its own -o.');
    if (!copy && !checkOnly)
      throw new UserError(
        'usage',
        'Where to write the copy was not said.',
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
