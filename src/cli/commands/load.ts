import { describeLoad } from '../../load/describe-load.js';
import type { LoadDocument } from '../../load/load-document.js';
import { runLoad } from '../../load/run-load.js';
import { define } from '../command.js';
import { loadOptions, loadPlan } from '../load-plan.js';
import { refuseExisting, refuseUnwritable, writeResult } from '../write-result.js';

/** As shells count a program ended by Ctrl-C. */
const INTERRUPTED = 130;

export const load = define({
  usage: ['URL [--levels LEVEL,…] [options]'],
  options: [...loadOptions, 'benchFile', 'force'],
  formats: ['table', 'json', 'markdown'],
  examples: [
    ['stepscope load localhost:8000', 'one request at a time'],
    [
      'stepscope load localhost:8000 --levels single,concurrent:16,concurrent:64,sustained:4/s -o load.json',
      'a sweep, saved for stepscope bench load.json',
    ],
    [
      'stepscope load http://gpu1:8000/v1/chat/completions --levels concurrent:32 --duration 60s --ramp 5s',
      '32 concurrent users for one minute, after a 5-second ramp',
    ],
    [
      'stepscope load localhost:8000 --levels sustained:8/s --input-tokens normal:1024:256 --output-tokens 64',
      'eight requests per second, even if the server falls behind',
    ],
    [
      'stepscope load https://api.example.com --api chat --model NAME --api-key-env API_KEY --allow-eos',
      'a service that needs an API key',
    ],
  ],
  async run({ values, given, output, emit }) {
    const plan = loadPlan(given, values, process.env);
    const { benchFile: file, force } = values;
    if (file !== undefined) {
      if (!force) refuseExisting(file);
      refuseUnwritable(file);
    }
    const { document, interrupted } = await interruptible(signal =>
      runLoad(plan, signal, (level, done, answered, failed) =>
        output.progress(level.name, done, `${answered} answered${failed > 0 ? `, ${failed} failed` : ''}`),
      ),
    );
    output.clearProgress();
    // First what was measured, in case the disk is full.
    await emit({
      blocks: () => describeLoad(document),
      document: () => ({
        ...document,
        // The file of -o has each request and another name.
        schema: 'stepscope-load-summary/1',
        levels: document.levels.map(({ requests, engineStates, ...level }) => level),
      }),
      shown: { allColumns: '--json' },
    });
    if (file !== undefined) writeResult(file, `${JSON.stringify(document)}\n`, force, output);
    return interrupted ? INTERRUPTED : 0;
  },
});

/** The first Ctrl-C ends the level and what there is gets reported; the second ends the program. */
async function interruptible(work: (signal: AbortSignal) => Promise<LoadDocument>) {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  try {
    return { document: await work(controller.signal), interrupted: controller.signal.aborted };
  } finally {
    process.removeListener('SIGINT', stop);
    process.removeListener('SIGTERM', stop);
  }
}
