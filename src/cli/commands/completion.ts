import { UserError } from '../../base/user-error.js';
import { define } from '../command.js';
import { completionScript, shells } from '../completion.js';

export const completion = define({
  usage: [shells.join(' | ')],
  options: [],
  examples: [
    ['stepscope completion bash > ~/.stepscope.bash', 'then in ~/.bashrc: source ~/.stepscope.bash'],
    ['stepscope completion zsh > ~/.stepscope.zsh', 'then in ~/.zshrc: source ~/.stepscope.zsh'],
    ['stepscope completion fish > ~/.config/fish/completions/stepscope.fish', 'for fish'],
  ],
  async run({ given, output }, all) {
    const shell = shells.find(name => name === given[0]);
    if (!shell || given.length > 1)
      throw new UserError('usage', 'No shell was given.', `Use one of: ${shells.join(', ')}`);
    output.out(completionScript(shell, await all()));
    return 0;
  },
});
