/** Requests while a server is profiled: the levels of `stepscope load`, or a few one after the other. */
import { type LoadLevels, warmUp } from '../../capture/run/server-calls.js';
import { describeLoad } from '../../load/describe-load.js';
import { runLoad } from '../../load/run-load.js';
import { text } from '../../report/text.js';
import { load } from '../commands/load.js';
import { loadPlan } from '../load-plan.js';
import type { Output } from '../output.js';
import { readCall } from '../read-call.js';

interface LoadChoice {
  /** As `stepscope load --levels` takes them. */
  readonly levels?: string;
  readonly requests?: number;
}

const REQUESTS = 16;

/** `keep` is told the result. */
export function loadFor(
  { levels, requests }: LoadChoice,
  output: Output,
  keep?: (document: object) => void,
): LoadLevels {
  if (levels === undefined) return warmUp(requests ?? REQUESTS);
  // Mistakes are told before a server takes minutes to load its model.
  const words = ['--levels', levels, ...(requests === undefined ? [] : ['--requests', String(requests)])];
  const read = (more: readonly string[]) =>
    readCall({ ...load, name: 'load' }, [...words, ...more], output).values;
  let values = read([]);
  return {
    async run(url, { signal }) {
      const plan = loadPlan([url], values, process.env);
      // The server is warm now, and single warm-up requests in the window would be profiled instead of the load.
      values = read(['--warmup', '0']);
      const document = await runLoad(plan, signal, (level, done) => output.progress(level.name, done));
      output.clearProgress();
      keep?.(document);
      // A profiled server is slower than it is: its figures are beside the point, but show that it was pressed.
      output.err(text.render(describeLoad(document), output));
    },
  };
}
