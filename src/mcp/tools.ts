/** The registry of tools: each is a command of the command line, so that both give the same answers. */
import type { Arguments, Tool } from './tool.js';

const files = {
  kind: 'files',
  about: 'profiles of one run (ranks together), and logs or benchmark results of it',
  required: true,
} as const;
const iterations = { kind: 'text', about: 'only these steps: 12, 10-20' } as const;
const phase = { kind: 'text', about: 'only steps of this phase: prefill, decode, mixed …' } as const;

const listed = (value: unknown): readonly string[] => (value as readonly string[] | undefined) ?? [];
/** `=` keeps a value that begins with a dash a value. */
const option = (flag: string, value: unknown): string[] =>
  value === undefined ? [] : [`--${flag}=${value}`];
const selected = (args: Arguments): string[] => [
  ...option('iterations', args.iterations),
  ...option('phase', args.phase),
];

/** Options of `capture` that a client may ask for: those that only change what is recorded. */
const recorded: Readonly<Record<string, string>> = Object.fromEntries(
  ['gc', 'gil', 'gpu-metrics', 'cuda-memory', 'osrt', 'cublas', 'sample', 'backtrace', 'agent'].map(name => [
    ...[name, `--${name}`],
  ]),
);

export const tools: readonly Tool[] = [
  {
    name: 'diagnose',
    title: 'What is wrong',
    about:
      'Ask first. The verdict, findings by cost with their evidence and advice, what could not be judged because it was not recorded, and the time budget by phase.',
    takes: { files, iterations, phase },
    command: args => ['analyze', ...listed(args.files), '--only=findings,step-budget', ...selected(args)],
  },
  {
    name: 'open',
    title: 'What a profile contains',
    about: 'What was recorded, what was not and how to record it, GPUs, engine markers, data that was lost.',
    takes: { files },
    command: args => ['info', ...listed(args.files)],
  },
  {
    name: 'list_analyses',
    title: 'Analyses',
    about: 'Every analysis with its id and the question it answers.',
    takes: {},
    command: () => ['analyze', '--list'],
  },
  {
    name: 'analyze',
    title: 'Run analyses',
    about:
      'Rows of one or more analyses by id (see list_analyses). "not-recorded" means that the capture cannot answer; it does not mean that there is no problem.',
    takes: { files, analyses: { kind: 'texts', about: 'ids', required: true }, iterations, phase },
    command: args => [
      'analyze',
      ...listed(args.files),
      `--only=${listed(args.analyses).join(',')}`,
      ...selected(args),
    ],
  },
  {
    name: 'steps',
    title: 'Steps',
    about: 'Every step: phase, requests, tokens, wall time, GPU busy time, kernels, state.',
    takes: { files, iterations, phase },
    command: args => ['steps', ...listed(args.files), ...selected(args)],
  },
  {
    name: 'explain',
    title: 'Explain a step, a gap or a kernel',
    about:
      'Claims with the rows they rest on. thing: step:12, gap (the longest), gap:KEY (a row of idle-gaps), kernel:NAME.',
    takes: { files, thing: { kind: 'text', about: 'what to explain', required: true } },
    command: args => ['explain', ...listed(args.files), String(args.thing).replace(/^-+/, '')],
  },
  {
    name: 'compare',
    title: 'Compare two runs',
    about:
      'Whether a change helped and why: the difference of step times, term by term; also benchmark results.',
    takes: {
      before: { kind: 'file', about: 'the base', required: true },
      after: { kind: 'file', about: 'the other', required: true },
    },
    command: args => ['compare', String(args.before), String(args.after)],
  },
  {
    name: 'check',
    title: 'Check against limits',
    about:
      'A run against a policy and its baseline: verdict per limit. Exit code 0 passed, 1 regression, 2 not decided.',
    takes: {
      file: { kind: 'file', about: 'the profile', required: true },
      policy: { kind: 'file', about: 'limits, YAML', required: true },
      baselines: { kind: 'file', about: 'file that stores the baselines' },
      baseline: { kind: 'text', about: 'name of the baseline' },
    },
    command: args => [
      ...['check', String(args.file), `--policy=${args.policy}`],
      ...option('baselines', args.baselines),
      ...option('baseline', args.baseline),
    ],
  },
  {
    name: 'search',
    title: 'Find names',
    about:
      'Kernels, CUDA calls, ranges, operators and functions by regular expression, with counts and times.',
    takes: {
      files,
      pattern: { kind: 'text', about: 'regular expression, case-insensitive', required: true },
    },
    command: args => ['search', ...listed(args.files), `--name=${args.pattern}`],
  },
  {
    name: 'sql',
    title: 'Ask SQL',
    about:
      'One SELECT (DuckDB) over a profile or a lake: kernels, api, ranges, ops, steps, budget, families, idle_gaps, every analysis. See resource stepscope://sql. Read only.',
    takes: { files, query: { kind: 'text', about: 'SQL', required: true } },
    // A space at the end: a question is told from a file by it.
    command: args => [
      'sql',
      `${String(args.query).replace(/^[-\s]+/, '')} `,
      ...listed(args.files),
      '--timeout=30s',
      '--max-rows=10000',
    ],
  },
  {
    name: 'plan_capture',
    title: 'Plan a capture',
    about: 'The exact command that records what an analysis needs, with reasons and warnings. Runs nothing.',
    takes: {
      command: {
        kind: 'texts',
        about: 'the program and its arguments, for example ["vllm","serve","M"]',
        required: true,
      },
      iterations,
      phase,
      options: { kind: 'texts', about: `what else to record: ${Object.keys(recorded).join(', ')}` },
    },
    command: args => [
      ...['capture', '--dry-run', ...option('iterations', args.iterations), ...option('phase', args.phase)],
      ...listed(args.options).flatMap(name => (Object.hasOwn(recorded, name) ? [recorded[name]] : [])),
      ...['--', ...listed(args.command)],
    ],
  },
  {
    name: 'read_benchmarks',
    title: 'Benchmark results',
    about: 'Throughput, latency, TTFT, TPOT and ITL from results of serving benchmarks, side by side.',
    takes: { files: { ...files, about: 'benchmark results or folders of them' } },
    command: args => ['bench', ...listed(args.files)],
  },
];
