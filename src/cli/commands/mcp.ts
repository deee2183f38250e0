import { serveMcp } from '../../mcp/serve.js';
import { define } from '../command.js';
import { version } from '../version.js';

const MEMORY_BYTES = 8e9;

export const mcp = define({
  usage: ['FOLDER… [options]'],
  options: ['callMemory'],
  notes: [
    ['FOLDER', 'profiles below these folders can be opened, and nothing else (default: the current folder)'],
    ['without --memory', `${MEMORY_BYTES / 1e9} GB per call`],
  ],
  examples: [
    ['stepscope mcp captures', 'a Model Context Protocol server on standard input and output'],
    ['claude mcp add stepscope -- npx stepscope mcp /data/profiles', 'for an agent'],
  ],
  async run({ values, given, output }) {
    await serveMcp({
      folders: given.length > 0 ? given : ['.'],
      version: version(),
      memoryBytes: values.callMemory ?? MEMORY_BYTES,
      onError: error => output.err(`stepscope mcp: ${error.message.split('\n')[0].slice(0, 300)}\n`),
    });
    return 0;
  },
});
