import type { LoadDocument } from '../../load/load-document.js';
import { runLoad } from '../../load/run-load.js';
import { text } from '../../report/text.js';
import type { Command, Output } from '../command.js';
import { readLoadArguments } from '../load-arguments.js';
import { describeLoad } from '../load-blocks.js';
import { refuseExisting, refuseUnwritable, writeResult } from '../write-result.js';

/** As shells count a program ended by Ctrl-C. */
const INTERRUPTED = 130;

export const load: Command = {
  name: 'load',
  summary: 'Press an OpenAI-compatible server and measure throughput, TTFT, TPOT, ITL and errors.',
  usage: 'stepscope load URL [--levels LEVEL,…] [options]',
  options: [
    {
      flags: '--level LEVEL',
      meaning: 'single, concurrent:16, or sustained:8/s (open loop); default single',
    },
    { flags: '--levels LEVEL,…', meaning: 'several, one after the other' },
    { flags: '--requests N', meaning: 'counted requests per level (default: 100, at least 4 per user)' },
    { flags: '--duration TIME', meaning: 'or for so long: 60s, 2min; with both, whichever comes first' },
    { flags: '--warmup N', meaning: 'requests before each level that are not counted (default 2)' },
    { flags: '--ramp TIME', meaning: 'grow to the full load over this time; not counted' },
    { flags: '--arrivals KIND', meaning: 'of sustained levels: poisson (default) or constant' },
    {
      flags: '--max-in-flight N',
      meaning: 'of sustained levels: more wait, and their time runs (default 4096)',
    },
    { flags: '--timeout TIME', meaning: 'for one request, all of it (default 600s)' },
    { flags: '--input-tokens LENGTH', meaning: '512 (default), normal:512:64 or uniform:256-1024' },
    { flags: '--output-tokens LENGTH', meaning: 'the same for answers (default 128)' },
    {
      flags: '--prefix KIND',
      meaning:
        'unique (default: no cache has seen the prompt), seeded (the same in the next run), shared:N (N tokens common)',
    },
    { flags: '--dataset FILE', meaning: "prompts in trtllm-bench's form, a JSON object per line" },
    { flags: '--seed N', meaning: 'lengths, words and arrivals follow from it (default 1)' },
    { flags: '--api KIND', meaning: 'completions or chat (default: by the address, else completions)' },
    { flags: '--model NAME', meaning: 'default: the first the server lists' },
    { flags: '--no-stream', meaning: 'whole answers; no TTFT, TPOT or ITL then' },
    {
      flags: '--allow-eos',
      meaning: 'let answers end early (default: ignore_eos, where the server knows it)',
    },
    { flags: '--body JSON', meaning: 'fields added to every request; null takes one out' },
    { flags: '--header NAME:VALUE', meaning: 'added to every request; repeat it for more' },
    { flags: '--api-key-env NAME', meaning: 'the environment variable that holds the key' },
    { flags: '--no-keep-alive', meaning: 'a new connection for every request' },
    { flags: '--insecure', meaning: 'take any certificate' },
    { flags: '-o, --output FILE', meaning: 'write the benchmark file, for stepscope bench' },
    { flags: '--force', meaning: 'overwrite it' },
    { flags: '--json', meaning: 'all figures, without the rows of requests, by docs/schemas' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope load localhost:8000', 'one request at a time'],
    [
      'stepscope load localhost:8000 --levels single,concurrent:16,concurrent:64,sustained:4/s -o load.json',
      'a sweep, kept for stepscope bench load.json',
    ],
    [
      'stepscope load http://gpu1:8000/v1/chat/completions --level concurrent:32 --duration 60s --ramp 5s',
      'a minute of 32 users, after 5 seconds of ramp',
    ],
    [
      'stepscope load localhost:8000 --level sustained:8/s --input-tokens normal:1024:256 --output-tokens 64',
      'eight requests per second, whether the server keeps up or not',
    ],
    [
      'stepscope load https://api.example.com --api chat --model NAME --api-key-env API_KEY --allow-eos',
      'a service with a key',
    ],
  ],
  async run(args, output) {
    const { plan, values } = readLoadArguments(args, process.env);
    if (values.output !== undefined) {
      if (!values.force) refuseExisting(values.output);
      refuseUnwritable(values.output);
    }
    const { document, interrupted } = await interruptible(signal =>
      runLoad(plan, signal, (level, done, answered, failed) =>
        output.progress(level.name, done, `${answered} answered${failed > 0 ? `, ${failed} failed` : ''}`),
      ),
    );
    output.clearProgress();
    // First what was measured, in case the disk is full.
    output.out(values.json ? asJson(document) : asText(document, output));
    if (values.output !== undefined)
      writeResult(values.output, `${JSON.stringify(document)}\n`, values.force ?? false, output);
    return interrupted ? INTERRUPTED : 0;
  },
};

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

const asJson = (document: LoadDocument) =>
  `${JSON.stringify({ ...document, levels: document.levels.map(({ requests, ...level }) => level) }, null, 1)}\n`;

const asText = (document: LoadDocument, output: Output) =>
  text.render(describeLoad(document), { width: output.width, color: output.color, allColumns: '--json' });
