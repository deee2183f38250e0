import { guideText } from '../../mcp/definitions.js';
import { define } from '../command.js';

export const guide = define({
  usage: [''],
  options: [],
  examples: [['stepscope guide', 'the order of questions, for an agent or a person new to a profile']],
  async run({ output }) {
    output.out(guideText());
    return 0;
  },
});
