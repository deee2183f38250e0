/** Requests while a server is profiled: the levels of `stepscope load`, or a few one after the other. */
import { type LoadLevels, warmUp } from '../../capture/run/server-calls.js';
import { describeLoad } from '../../load/describe-load.js';
import { failureWords } from '../../load/failure.js';
import type { PromptSource } from '../../load/prompt.js';
import { runLoad } from '../../load/run-load.js';
import { text } from '../../report/text.js';
import { type Lengths, lengthsText } from '../../stats/lengths.js';
import { load } from '../commands/load.js';
import { loadPlan } from '../load-plan.js';
import type { Output } from '../output.js';
import { readCall } from '../read-call.js';

interface LoadChoice {
  /** As `stepscope load --levels` takes them. */
  readonly levels?: string;
  readonly requests?: number;
  /** As `stepscope load` takes them. */
  readonly inputTokens?: Lengths;
  readonly outputTokens?: Lengths;
  /** Prompts of a file, as `stepscope load` takes it. */
  readonly dataset?: string;
}

/** Requests that end at different times: otherwise all prompts would come in the same step. */
const SPREAD = 0.25;

const REQUESTS = 16;

/** `keep` is told the result. */
export function loadFor(choice: LoadChoice, output: Output, keep?: (document: object) => void): LoadLevels {
  const { requests, inputTokens, outputTokens, dataset } = choice;
  // Mistakes in the file are told before a server takes minutes to load its model.
  if (dataset !== undefined)
    loadPlan(['http://localhost'], valuesOf(promptWords(choice), output), process.env);
  const levels = choice.levels ?? (dataset === undefined ? undefined : 'single');
  const isSustained = levels !== undefined && /^\s*sustained:/.test(levels);
  const drive = requests === undefined && !isSustained ? driven(choice, output, keep) : undefined;
  if (levels === undefined) return { ...warmUp(requests ?? REQUESTS), ...(drive ? { drive } : {}) };
  // Mistakes are told before a server takes minutes to load its model.
  const words = [
    ...['--levels', levels],
    ...(requests === undefined && choice.levels === undefined ? ['--requests', String(REQUESTS)] : []),
    ...(requests === undefined ? [] : ['--requests', String(requests)]),
    ...promptWords({ inputTokens, outputTokens, dataset }),
  ];
  const read = (more: readonly string[]) => valuesOf([...words, ...more], output);
  let values = read([]);
  return {
    ...(drive ? { drive } : {}),
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

const valuesOf = (words: readonly string[], output: Output) =>
  readCall({ ...load, name: 'load' }, [...words], output).values;

const promptWords = ({ inputTokens, outputTokens, dataset }: LoadChoice): string[] => [
  ...(dataset === undefined ? [] : ['--dataset', dataset]),
  ...(inputTokens === undefined ? [] : ['--input-tokens', lengthsText(inputTokens)]),
  ...(outputTokens === undefined ? [] : ['--output-tokens', lengthsText(outputTokens)]),
];

/** Until it is ended from outside. What the user said about lengths goes first. */
function driven(
  { inputTokens, outputTokens, dataset }: LoadChoice,
  output: Output,
  keep: ((document: object) => void) | undefined,
): NonNullable<LoadLevels['drive']> {
  return async (url, shape, { signal, onProgress, onBegun }) => {
    const mean = shape.outputTokens;
    const around = Math.floor(mean * SPREAD);
    const lengths = shape.once || around === 0 ? String(mean) : `uniform:${mean - around}-${mean + around}`;
    const words = [
      ...['--levels', `concurrent:${shape.users}`, '--warmup', '0'],
      ...(dataset === undefined
        ? ['--input-tokens', inputTokens ? lengthsText(inputTokens) : String(shape.inputTokens)]
        : ['--dataset', dataset]),
      // A wave that was too short is sent again, longer than asked for.
      ...['--output-tokens', outputTokens && !shape.once ? lengthsText(outputTokens) : lengths],
    ];
    const asked = loadPlan([url], valuesOf(words, output), process.env);
    const plan = shape.once ? { ...asked, prompts: answeredBy(asked.prompts, mean) } : asked;
    const limits = shape.once ? { requests: shape.users } : { durationNs: Infinity };
    try {
      const document = await runLoad(
        { ...plan, ...limits, onFirstPiece: onBegun },
        signal,
        (_, __, answered, failed) => onProgress(answered, failed),
      );
      keep?.(document);
      const [worst] = document.levels.flatMap(({ errors }) => errors).sort((a, b) => b.count - a.count);
      return worst && `${failureWords(worst.kind)}${worst.example ? ` (${worst.example})` : ''}`;
    } catch (error) {
      // Ended by us before the first answer: that is no failure.
      if (!signal.aborted) throw error;
      return undefined;
    }
  };
}

/** A wave makes a phase: its answers are as long as the phase needs, whatever the dataset asks for. */
const answeredBy = (prompts: PromptSource, outputTokens: number): PromptSource => ({
  ...{ name: prompts.name, size: prompts.size },
  prompt: (part, number) => ({ ...prompts.prompt(part, number), outputTokens }),
});
