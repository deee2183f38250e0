import * as fs from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { redactProfile } from '../../redact/redact.js';
import { removalsText } from '../../redact/removals-text.js';
import { define, requireFiles } from '../command.js';

export const redact = define({
  usage: ['FILE -o OUT [options]'],
  options: ['copy', 'hashRanges', 'force'],
  formats: ['table', 'json'],
  examples: [
    ['stepscope redact profile.sqlite -o shared.sqlite.gz', 'an Nsight Systems export, packed on the way'],
    ['stepscope redact trace.json.gz -o shared.json.gz', 'a PyTorch trace: file names without their folders'],
    [
      'stepscope redact profile.sqlite -o shared.sqlite --hash-ranges',
      'also hides what your own NVTX ranges are called',
    ],
  ],
  async run({ values: { copy, hashRanges, force }, given, output, emit }) {
    requireFiles('redact', given);
    const [input] = given;
    if (given.length > 1)
      throw new UserError('usage', 'One profile at a time.', 'Run it once per file, each with its own -o.');
    if (!copy)
      throw new UserError(
        'usage',
        'Where to write the copy was not said.',
        `For example: stepscope redact ${input} -o shared.sqlite.gz`,
      );
    const onProgress = (done: number) => output.progress(`redacting ${input}`, done);
    const removed = await redactProfile({ input, output: copy, hashRanges, force, onProgress });
    output.clearProgress();
    const sizeBytes = fs.statSync(copy).size;
    await emit({
      blocks: () => [],
      document: () => ({ schema: 'stepscope-redact/1', file: copy, sizeBytes, removed }),
      text: () => removalsText(removed, copy, sizeBytes),
    });
    return 0;
  },
});
