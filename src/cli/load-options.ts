/** Options of `load` and `dataset`. */
import { readLevels } from '../load/level.js';
import { apis } from '../load/target.js';
import { repeated, toggle, value, withDefault } from './option.js';
import { duration, lengths, oneOf, anyText as text, whole } from './option-kinds.js';

export const optionsOfLoad = {
  levels: repeated('--levels LEVEL,…', { read: given => readLevels([given]) }, levelWords(), {
    flag: 'level',
  }),
  requests: value('--requests N', whole(), 'measured requests per level (default: 100, at least 4 per user)'),
  duration: value(
    '--duration TIME',
    duration,
    'measure for this long: 60s, 2min; with --requests, whichever ends first',
  ),
  warmup: withDefault(
    value('--warmup N', whole(0, 1e6), 'warm-up requests before each level, not measured'),
    2,
  ),
  ramp: value('--ramp TIME', duration, 'ramp up to full load over this time; not measured'),
  arrivals: withDefault(
    value('--arrivals KIND', oneOf(['poisson', 'constant']), 'arrival process for sustained levels'),
    'poisson',
  ),
  maxInFlight: withDefault(
    value(
      '--max-in-flight N',
      whole(1, 1e5),
      'limit for sustained levels; further requests wait, and the wait counts',
    ),
    4096,
  ),
  requestTimeout: withDefault(
    value('--timeout TIME', duration, 'limit for one complete request'),
    600e9,
    '600s',
  ),
  inputTokens: value('--input-tokens LENGTH', lengths, lengthWords('prompts'), { flag: 'input' }),
  outputTokens: value('--output-tokens LENGTH', lengths, 'output length, in the same form', {
    flag: 'output',
    when: /^(\d+$|normal:|uniform:)/,
  }),
  prefix: value(
    '--prefix KIND',
    text,
    'unique (default; never hits a prefix cache), seeded (same prompts in every run), shared:N (N common tokens)',
  ),
  dataset: value('--dataset FILE', text, 'prompts in trtllm-bench format, one JSON object per line'),
  seed: withDefault(
    value('--seed N', whole(0, 2 ** 32 - 1), 'random seed; the same seed gives the same data'),
    1,
  ),
  api: value('--api KIND', oneOf(apis), 'API to call (default: from the URL, else completions)'),
  servedModel: value('--model NAME', text, 'model to request (default: the first that the server lists)'),
  noMetrics: toggle('--no-metrics', "do not read the server's /metrics (twice a second) meanwhile"),
  noStream: toggle('--no-stream', 'request complete responses; no TTFT, TPOT or ITL'),
  allowEos: toggle('--allow-eos', 'let outputs end early (default: ignore_eos, if the server supports it)'),
  body: value('--body JSON', text, 'fields to add to every request; null removes a field'),
  header: repeated('--header NAME:VALUE', text, 'header to add to every request; repeatable'),
  apiKeyEnv: value('--api-key-env NAME', text, 'environment variable that holds the API key'),
  noKeepAlive: toggle('--no-keep-alive', 'open a new connection for every request'),
  insecure: toggle('--insecure', 'accept any TLS certificate'),
  benchFile: value('-o, --output FILE', text, 'write a benchmark file, for stepscope bench'),
  datasetRequests: value('--requests N', whole(), 'number of requests'),
  datasetFile: value('-o, --output FILE', text, 'output file (default: standard output)', { flag: 'file' }),
  vocab: withDefault(value('--vocab N', whole(2), 'vocabulary size; token IDs are below N'), 32000),
  text: toggle('--text', 'write text prompts, about one token per word, instead of token IDs'),
} as const;

function levelWords(): string {
  return 'single (default), concurrent:16 or sustained:8/s (open loop); several run one after the other';
}
function lengthWords(what: string): string {
  return `tokens in ${what}: 512, normal:512:64 (mean, standard deviation) or uniform:256-1024`;
}
