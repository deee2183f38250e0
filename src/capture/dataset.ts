/**
 * Synthetic requests in the form trtllm-bench reads: a JSON object per line (tensorrt_llm/bench/utils/data.py), the
 * same lengths as `prepare-dataset` draws: a normal draw is rounded up and at least 1, uniform bounds are included.
 * The same seed gives the same bytes.
 */

import { drawLength, type Lengths } from '../stats/lengths.js';
import { type Random, seededRandom } from '../stats/random.js';
import { shellCommand } from './shell-quote.js';

export interface DatasetOptions {
  readonly requests: number;
  readonly input: Lengths;
  readonly output: Lengths;
  readonly seed: number;
  readonly vocabulary: number;
  /** Prompts as text instead of token ids. */
  readonly text: boolean;
}

/** Below are bytes and special tokens in most vocabularies. */
const FIRST_TOKEN = 100;
/** Short words that most tokenizers know whole, so that a word is about a token. */
const words =
  'the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were all her she there would their we him been has when who will no more if out so up said what its about than into them can only other time new some could these two may first then do any like my now over such our man me even most made after also well way many must before back through years where much your down should because long each just state those people too mr how little good world make very year still see own work men day get here between both life under never same another know while last might us great old since against go came right used take three'.split(
    ' ',
  );

export function* datasetLines(options: DatasetOptions): Generator<string> {
  const random = seededRandom(options.seed);
  const first = options.vocabulary > 10 * FIRST_TOKEN ? FIRST_TOKEN : 0;
  const below = (limit: number) => Math.floor(random() * limit);
  for (let id = 0; id < options.requests; id++) {
    const input = draw(options.input, random);
    const output_tokens = draw(options.output, random);
    const content = options.text
      ? { prompt: Array.from({ length: input }, () => words[below(words.length)]).join(' ') }
      : { input_ids: Array.from({ length: input }, () => first + below(options.vocabulary - first)) };
    yield `${JSON.stringify({ task_id: id, ...content, output_tokens })}\n`;
  }
}

/** A fixed length draws as a normal one does: what was made with a seed before can be made again. */
const draw = (lengths: Lengths, random: Random): number => drawLength(asNormal(lengths), random, Math.ceil);

type Drawn = Exclude<Lengths, { readonly kind: 'fixed' }>;

const asNormal = (lengths: Lengths): Drawn =>
  lengths.kind === 'fixed' ? { kind: 'normal', mean: lengths.tokens, deviation: 0 } : lengths;

/** The same request to TensorRT-LLM's own tool; undefined where it has no such mixture. */
export function prepareDatasetCommand(options: DatasetOptions, file: string): string | undefined {
  const { requests, seed } = options;
  const [input, output] = [asNormal(options.input), asNormal(options.output)];
  const begin = [
    'trtllm-bench',
    '--model',
    'MODEL',
    'prepare-dataset',
    '--output',
    file,
    '--random-seed',
    String(seed),
  ];
  const both = (name: string, from: string | number, name2: string, to: string | number) => [
    name,
    String(from),
    name2,
    String(to),
  ];
  if (input.kind === 'normal' && output.kind === 'normal')
    return shellCommand([
      ...begin,
      'token-norm-dist',
      '--num-requests',
      String(requests),
      ...both('--input-mean', input.mean, '--input-stdev', input.deviation),
      ...both('--output-mean', output.mean, '--output-stdev', output.deviation),
    ]);
  const [from, to] = [asUniform(input), asUniform(output)];
  if (!from || !to) return undefined;
  return shellCommand([
    ...begin,
    'token-unif-dist',
    '--num-requests',
    String(requests),
    ...both('--input-min', from.least, '--input-max', from.most),
    ...both('--output-min', to.least, '--output-max', to.most),
  ]);
}

/** A fixed length is both. */
function asUniform(lengths: Drawn): { least: number; most: number } | undefined {
  if (lengths.kind === 'uniform') return lengths;
  const fixed = Math.ceil(lengths.mean);
  return lengths.deviation === 0 ? { least: fixed, most: fixed } : undefined;
}
