import * as fs from 'node:fs';
import { formatBytes, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { redactProfile } from '../../redact/redact.js';
import { type Removal, removalKinds } from '../../redact/removals.js';
import { readArguments, requireFiles } from '../arguments.js';
import type { Command } from '../command.js';

export const redact: Command = {
  name: 'redact',
  summary:
    'Write a copy of a profile that is fit to share: no environments, paths, names of people or machines.',
  usage: 'stepscope redact FILE -o OUT [--hash-ranges] [--force] [--json]',
  options: [
    { flags: '-o, --output OUT', meaning: 'the copy; packed when its name ends in .gz' },
    {
      flags: '--hash-ranges',
      meaning: 'replace names of ranges by hashes, but for those that analyses understand',
    },
    { flags: '--force', meaning: 'overwrite OUT if it is there' },
    { flags: '--json', meaning: 'the list of what was removed as JSON' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope redact profile.sqlite -o shared.sqlite.gz', 'an Nsight Systems export, packed on the way'],
    ['stepscope redact trace.json.gz -o shared.json.gz', 'a PyTorch trace: file names without their folders'],
    [
      'stepscope redact profile.sqlite -o shared.sqlite --hash-ranges',
      'also hides what your own NVTX ranges are called',
    ],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('redact', args, {
      output: { type: 'string', short: 'o' },
      'hash-ranges': { type: 'boolean' },
      force: { type: 'boolean' },
      json: { type: 'boolean' },
    });
    requireFiles('redact', positionals);
    const [input] = positionals;
    if (positionals.length > 1)
      throw new UserError('usage', 'One profile at a time.', 'Run it once per file, each with its own -o.');
    if (!values.output)
      throw new UserError(
        'usage',
        'Where to write the copy was not said.',
        `For example: stepscope redact ${input} -o shared.sqlite.gz`,
      );
    const removed = await redactProfile({
      input,
      output: values.output,
      hashRanges: values['hash-ranges'] ?? false,
      force: values.force ?? false,
      onProgress: done => output.progress(`redacting ${input}`, done),
    });
    output.clearProgress();
    const sizeBytes = fs.statSync(values.output).size;
    if (values.json)
      output.out(
        `${JSON.stringify({ schema: 'stepscope-redact/1', file: values.output, sizeBytes, removed }, null, 2)}\n`,
      );
    else output.out(listText(removed, values.output, sizeBytes));
    return 0;
  },
};

/** Kinds with their totals, places under them. */
function listText(removed: readonly Removal[], file: string, sizeBytes: number): string {
  const lines = [`wrote ${file}, ${formatBytes(sizeBytes)}`];
  if (removed.length === 0) lines.push('Nothing in it had to be removed.');
  const kinds = [...new Set(removed.map(({ kind }) => kind))];
  for (const kind of kinds) {
    const places = removed.filter(removal => removal.kind === kind);
    const total = places.reduce((sum, { count }) => sum + count, 0);
    lines.push('', `${removalKinds[kind]}: ${total.toLocaleString('en')}`);
    for (const { where, count } of places)
      lines.push(`  ${count.toLocaleString('en').padStart(9)}  ${where}`);
  }
  if (removed.length > 0)
    lines.push('', `${plural(kinds.length, 'kind')}; what to check by hand is in docs/redact.md.`);
  return `${lines.join('\n')}\n`;
}
