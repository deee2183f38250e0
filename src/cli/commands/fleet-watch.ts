import { define } from '../command.js';
export const fleetWatch = define({
  usage: ['LAKE'],
  options: [],
  examples: [],
  async run() {
    return 0;
  },
});
