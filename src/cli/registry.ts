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
    summary: 'Show where step time goes: phases, budget, kernel families, GPU idle time by cause.',
    load: async () => (await import('./commands/analyze.js')).analyze,
  },
  report: {
    summary: 'Write a self-contained HTML report with the findings, charts and tables.',
    load: async () => (await import('./commands/report.js')).report,
  },
  compare: {
    summary: 'Show whether a change helped and why: the step time difference between runs, term by term.',
    load: async () => (await import('./commands/compare.js')).compare,
  },
  whatif: {
    summary:
      'Predict the step time after changes such as CUDA graphs, asynchronous scheduling, FP8 or another batch.',
    load: async () => (await import('./commands/whatif.js')).whatif,
  },
  host: {
    summary: 'Name the host code that the GPU waits for: a call tree over the selected steps.',
    load: async () => (await import('./commands/host.js')).host,
  },
  view: {
    summary:
      'Explore a profile in the browser: timeline, findings and every analysis, for any range of steps.',
    load: async () => (await import('./commands/view.js')).view,
  },
  explain: {
    summary: 'Explain one step, gap or kernel: claims, and the rows they rest on.',
    load: async () => (await import('./commands/explain.js')).explain,
  },
  search: {
    summary: 'Find kernels, calls, ranges, operators and functions by name, with counts and times.',
    load: async () => (await import('./commands/search.js')).searchCommand,
  },
  ncu: {
    summary:
      'Measure one kernel of a profile with Nsight Compute, in a typical step, and show what limits it.',
    load: async () => (await import('./commands/ncu.js')).ncu,
  },
  repro: {
    summary: 'Write a script that runs one operator alone, with the recorded shapes, and times it.',
    load: async () => (await import('./commands/repro.js')).repro,
  },
  export: {
    summary:
      'Write a profile for other tools: a Perfetto or Chrome trace with steps, idle causes and findings, or spans.',
    load: async () => (await import('./commands/export.js')).exportCommand,
  },
  sql: {
    summary: 'Ask SQL of a profile or a lake: events, steps, budgets and every analysis as tables.',
    load: async () => (await import('./commands/sql.js')).sql,
  },
  steps: {
    summary: 'List the engine steps of a capture, or the kernels of a typical one.',
    load: async () => (await import('./commands/steps.js')).steps,
  },
  info: {
    summary: 'Show what a profile contains, what is missing and how to record it.',
    load: async () => (await import('./commands/info.js')).info,
  },
  stats: {
    summary: 'Print the summaries of `nsys stats` and the rules of `nsys analyze`, with the same numbers.',
    load: async () => (await import('./commands/stats.js')).stats,
  },
  bench: {
    summary: 'Compare benchmark results side by side: throughput, latency, TTFT, TPOT, ITL.',
    load: async () => (await import('./commands/bench.js')).bench,
  },
  moe: {
    summary: 'Show whether expert load imbalance is the bottleneck, what it costs and how to fix it.',
    load: async () => (await import('./commands/moe.js')).moe,
  },
  'moe place': {
    summary:
      'Place experts on GPUs with every method, evaluate each on held-out data, write mappings for engines.',
    load: async () => (await import('./commands/moe-place.js')).moePlace,
  },
  'moe experiment': {
    summary:
      'Run a model with its learned router and with a perfect router to test whether routing is the bottleneck.',
    load: async () => (await import('./commands/moe-experiment.js')).moeExperiment,
  },
  families: {
    summary:
      'Group kernel summaries that exist only as text (nsys stats output, notes) into kernel families.',
    load: async () => (await import('./commands/families.js')).familiesCommand,
  },
  frameworks: {
    summary:
      'Compare frameworks: throughput, time per token, why one is faster, and whether the comparison is fair.',
    load: async () => (await import('./commands/frameworks.js')).frameworks,
  },
  check: {
    summary: 'Check a run against limits and a baseline, for CI. The exit code is the verdict.',
    load: async () => (await import('./commands/check.js')).check,
  },
  'baseline save': {
    summary: 'Measure a run and save its metrics as a named baseline, in one file for your repository.',
    load: async () => (await import('./commands/baseline-save.js')).baselineSave,
  },
  'baseline list': {
    summary: 'List the baselines in a file.',
    load: async () => (await import('./commands/baseline-list.js')).baselineList,
  },
  'baseline show': {
    summary: 'Show the metrics of a baseline and how it was recorded.',
    load: async () => (await import('./commands/baseline-show.js')).baselineShow,
  },
  'baseline remove': {
    summary: 'Remove a baseline.',
    load: async () => (await import('./commands/baseline-remove.js')).baselineRemove,
  },
  trend: {
    summary: 'Track metrics over many runs and show where they changed.',
    load: async () => (await import('./commands/trend.js')).trend,
  },
  'optimize start': {
    summary: 'Begin an entry of the journal: what is wrong in a profile, and its environment.',
    load: async () => (await import('./commands/optimize-start.js')).optimizeStart,
  },
  'optimize propose': {
    summary: 'Note what is changed, the state of the repository and the capture command.',
    load: async () => (await import('./commands/optimize-propose.js')).optimizePropose,
  },
  'optimize record': {
    summary: 'Add the profile of the changed program to the entry.',
    load: async () => (await import('./commands/optimize-record.js')).optimizeRecord,
  },
  'optimize compare': {
    summary: 'Compare the entry’s base and result: faster, slower, or why it cannot be told.',
    load: async () => (await import('./commands/optimize-compare.js')).optimizeCompare,
  },
  'optimize keep': {
    summary: 'Close the entry: the change stays.',
    load: async () => (await import('./commands/optimize-keep.js')).optimizeKeep,
  },
  'optimize drop': {
    summary: 'Close the entry: the change goes.',
    load: async () => (await import('./commands/optimize-drop.js')).optimizeDrop,
  },
  'optimize status': {
    summary: 'List the entries of the journal, and the command that goes on.',
    load: async () => (await import('./commands/optimize-status.js')).optimizeStatus,
  },
  'fleet map': {
    summary:
      'Turn many profiles into a lake of Parquet tables: on this machine, with Slurm or on Kubernetes.',
    load: async () => (await import('./commands/fleet-map.js')).fleetMap,
  },
  'fleet report': {
    summary:
      'Show which ranks, nodes and configurations in a lake are slow, since when, and the terms of the change.',
    load: async () => (await import('./commands/fleet-report.js')).fleetReport,
  },
  'fleet watch': {
    summary: 'Follow a folder and map every profile that appears in it.',
    load: async () => (await import('./commands/fleet-watch.js')).fleetWatch,
  },
  load: {
    summary: 'Load-test an OpenAI-compatible server: throughput, TTFT, TPOT, ITL and errors.',
    load: async () => (await import('./commands/load.js')).load,
  },
  capture: {
    summary:
      'Profile an engine with the right nsys command: locally, in a pod or over ssh. Check and analyze the result.',
    load: async () => (await import('./commands/capture.js')).capture,
  },
  doctor: {
    summary:
      'Check whether this machine can capture (nsys, driver, permissions, engines, disk space) and how to fix it.',
    load: async () => (await import('./commands/doctor.js')).doctor,
  },
  dataset: {
    summary: 'Write a synthetic dataset for trtllm-bench: random lengths, reproducible by seed.',
    load: async () => (await import('./commands/dataset.js')).dataset,
  },
  redact: {
    summary:
      'Write a copy of a profile that is safe to share: no environment variables, paths, user or host names.',
    load: async () => (await import('./commands/redact.js')).redact,
  },
  mcp: {
    summary: 'Serve profiles to AI agents: a Model Context Protocol server on standard input and output.',
    load: async () => (await import('./commands/mcp.js')).mcp,
  },
  guide: {
    summary: 'Print the order of questions about a profile, with token budgets, for agents.',
    load: async () => (await import('./commands/guide.js')).guide,
  },
  completion: {
    summary: 'Print a shell completion script for commands and options.',
    load: async () => (await import('./commands/completion.js')).completion,
  },
};

export const loadCommand = async (name: string): Promise<Command> => ({
  ...(await commands[name].load()),
  ...{ name, summary: commands[name].summary },
});

export const allCommands = (): Promise<Command[]> => Promise.all(Object.keys(commands).map(loadCommand));
