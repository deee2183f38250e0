/** The verbs. Each is loaded when it is asked for: what they bring along costs half a second, and a list needs none. */
import type { Command, Verb } from './command.js';

interface Entry {
  /** One line for the list of commands. */
  readonly summary: string;
  load(): Promise<Verb>;
}

/** By name: one word, or two. */
export const commands: Readonly<Record<string, Entry>> = {
  analyze: {
    summary: 'Say where the time of a step goes: phases, budget, kernel families, idle by cause.',
    load: async () => (await import('./commands/analyze.js')).analyze,
  },
  report: {
    summary: 'Write one HTML file with the answer, charts and tables, readable without this tool.',
    load: async () => (await import('./commands/report.js')).report,
  },
  compare: {
    summary:
      'Say whether a change helped and why: step times of two or more runs as an equation that adds up.',
    load: async () => (await import('./commands/compare.js')).compare,
  },
  view: {
    summary: 'Look at a profile in the browser: timeline, answer and every analysis, for any steps.',
    load: async () => (await import('./commands/view.js')).view,
  },
  steps: {
    summary: 'List the engine steps of a capture, or the kernels of a typical one.',
    load: async () => (await import('./commands/steps.js')).steps,
  },
  info: {
    summary: 'Say what a profile holds, what it does not, and how to record what is missing.',
    load: async () => (await import('./commands/info.js')).info,
  },
  stats: {
    summary: 'Print the summaries of `nsys stats` and the rules of `nsys analyze`, with the same numbers.',
    load: async () => (await import('./commands/stats.js')).stats,
  },
  bench: {
    summary: 'Put the results of benchmarks beside each other: throughput, latency, TTFT, TPOT, ITL.',
    load: async () => (await import('./commands/bench.js')).bench,
  },
  moe: {
    summary: 'Say whether uneven routing to experts is the bottleneck, what it costs and what would fix it.',
    load: async () => (await import('./commands/moe.js')).moe,
  },
  'moe place': {
    summary:
      'Place experts on GPUs by every method, judge each on what it has not seen, write mappings for engines.',
    load: async () => (await import('./commands/moe-place.js')).moePlace,
  },
  'moe experiment': {
    summary:
      'Run a model with its own router and with the perfect one, and say if routing is the bottleneck.',
    load: async () => (await import('./commands/moe-experiment.js')).moeExperiment,
  },
  families: {
    summary: 'Put kernel summaries you only have as text (nsys stats, notes) into kernel families.',
    load: async () => (await import('./commands/families.js')).familiesCommand,
  },
  frameworks: {
    summary:
      'Compare frameworks: throughput, where a token’s time goes, why one is faster, and if that is fair.',
    load: async () => (await import('./commands/frameworks.js')).frameworks,
  },
  check: {
    summary: 'Hold a run against limits and a baseline; the exit code is the answer, for CI.',
    load: async () => (await import('./commands/check.js')).check,
  },
  'baseline save': {
    summary: 'Measure a run and keep its figures under a name, in one file for your repository.',
    load: async () => (await import('./commands/baseline-save.js')).baselineSave,
  },
  'baseline list': {
    summary: 'List the baselines of a file.',
    load: async () => (await import('./commands/baseline-list.js')).baselineList,
  },
  'baseline show': {
    summary: 'Show the figures of a baseline and what it was.',
    load: async () => (await import('./commands/baseline-show.js')).baselineShow,
  },
  'baseline remove': {
    summary: 'Forget a baseline.',
    load: async () => (await import('./commands/baseline-remove.js')).baselineRemove,
  },
  trend: {
    summary: 'Follow metrics over many runs and say where they changed.',
    load: async () => (await import('./commands/trend.js')).trend,
  },
  load: {
    summary: 'Press an OpenAI-compatible server and measure throughput, TTFT, TPOT, ITL and errors.',
    load: async () => (await import('./commands/load.js')).load,
  },
  capture: {
    summary:
      'Profile an engine: the right nsys command for it, run here, in a pod or over ssh, its result judged and analyzed.',
    load: async () => (await import('./commands/capture.js')).capture,
  },
  doctor: {
    summary:
      'Check this machine for captures: nsys, driver, rights, engines, room; and how to fix what is missing.',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  dataset: {
    summary: 'Write synthetic requests for trtllm-bench: drawn lengths, the same for the same seed.',
    load: async () => (await import('./commands/dataset.js')).dataset,
  },
  redact: {
    summary:
      'Write a copy of a profile that is fit to share: no environments, paths, names of people or machines.',
    load: async () => (await import('./commands/redact.js')).redact,
  },
  completion: {
    summary: 'Print a script that completes commands and options in your shell.',
    load: async () => (await import('./commands/completion.js')).completion,
  },
};

export const loadCommand = async (name: string): Promise<Command> => ({
  ...(await commands[name].load()),
  ...{ name, summary: commands[name].summary },
});

export const allCommands = (): Promise<Command[]> => Promise.all(Object.keys(commands).map(loadCommand));
