import { UserError } from '../../base/user-error.js';
import { checksText, diagnose } from '../../capture/doctor.js';
import { lookAround } from '../../capture/run/look-around.js';
import { findNsys } from '../../import/nsys-rep/find-nsys.js';
import { define } from '../command.js';

export const doctor = define({
  usage: ['[options]'],
  options: ['reportsFolder'],
  formats: ['table', 'json'],
  examples: [
    ['stepscope doctor', 'before the first capture on a machine'],
    ['stepscope doctor -o /scratch --json', 'for a script'],
  ],
  async run({ values, given, emit }) {
    if (given.length > 0)
      throw new UserError(
        'usage',
        `doctor does not take a file: ${given[0]}`,
        'For a profile: stepscope info FILE',
      );
    const checks = diagnose(await lookAround(await nsysHere(), values.reportsFolder ?? '.'));
    await emit({
      blocks: () => [],
      document: () => ({ schema: 'stepscope-doctor/1', checks }),
      text: () => checksText(checks),
    });
    return 0;
  },
});

/** A wrong $NSYS means none here: to be told so is why one asks. */
async function nsysHere() {
  try {
    return await findNsys();
  } catch (error) {
    if (error instanceof UserError) return [];
    throw error;
  }
}
