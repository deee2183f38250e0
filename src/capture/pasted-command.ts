/**
 * A command that was written for nsys, or with variables in front, as users and guides have it. Its flags become the
 * options of a capture, so that the plan can keep what is right in it and state what was changed.
 */
import { UserError } from '../base/user-error.js';
import { WINDOW_VARIABLE } from '../catalog/engines.js';
import type { CaptureOptions, IterationSpan, PlanWarning } from './capture-plan.js';
import { readIterations } from './iterations.js';
import { judgePasted } from './judge-pasted.js';
import { baseName, readLaunch } from './launchers.js';
import { type NsysWord, readNsysWords } from './nsys-words.js';

export interface PastedCommand {
  /** The program with its launcher, without nsys and variables. */
  readonly command: readonly string[];
  /** What the pasted flags and variables ask for. */
  readonly options: Partial<CaptureOptions>;
  /** What is wrong with the command as it was written. */
  readonly warnings: readonly PlanWarning[];
}

/** `more`: options of nsys that stand elsewhere, for example before `--`. */
export function readPasted(words: readonly string[], more: readonly NsysWord[] = []): PastedCommand {
  const { env, rest } = withoutAssignments(words);
  const found = rest.length === 0 ? undefined : findNsys(rest);
  const options = [...(found?.options ?? []), ...more];
  const asked = takeOver(options, env);
  return {
    command: found?.command ?? rest,
    options: {
      ...asked,
      ...(found?.nsys.includes('/') ? { nsys: found.nsys } : {}),
      // In a pasted command a graph as one block is a mistake to correct; as an option of the capture it is a wish.
      ...(more.some(({ name, value }) => name === 'cuda-graph-trace' && value.startsWith('graph'))
        ? { graphTrace: 'graph' as const }
        : {}),
    },
    warnings: found ? judgePasted({ options: found.options, asked, outside: found.outside }) : [],
  };
}

/** `A=b C=d program`, also after `env`. */
function withoutAssignments(words: readonly string[]): {
  env: Record<string, string>;
  rest: readonly string[];
} {
  const isAssignment = (word: string | undefined) => /^[A-Za-z_]\w*=/s.test(word ?? '');
  let rest = words;
  if (baseName(rest[0] ?? '') === 'env' && isAssignment(rest[1])) rest = rest.slice(1);
  const env: Record<string, string> = {};
  while (isAssignment(rest[0])) {
    const equals = rest[0].indexOf('=');
    env[rest[0].slice(0, equals)] = rest[0].slice(equals + 1);
    rest = rest.slice(1);
  }
  return { env, rest };
}

interface FoundNsys {
  readonly nsys: string;
  readonly options: readonly NsysWord[];
  readonly command: readonly string[];
  /** It stood in front of a launcher. */
  readonly outside: boolean;
}

function findNsys(words: readonly string[]): FoundNsys | undefined {
  const isNsys = (word: string | undefined) => baseName(word ?? '') === 'nsys';
  if (!words.some(isNsys)) return undefined;
  const launch = readLaunch(words);
  if (!isNsys(launch.program[0])) return undefined;
  const [nsys, verb, ...rest] = launch.program;
  if (verb !== 'profile')
    throw new UserError(
      'usage',
      `nsys ${verb ?? ''} cannot be taken over: only nsys profile runs a program from start to end.`,
      'Give the program itself after --, or the nsys profile command.',
    );
  const { options, end } = readNsysWords(rest);
  const program = rest.slice(rest[end] === '--' ? end + 1 : end);
  if (program.length === 0)
    throw new UserError(
      'usage',
      'The nsys command has no program to profile.',
      'Paste the whole command, including the program after the options of nsys.',
    );
  const outside = launch.kind === 'none' && readLaunch(program).kind !== 'none';
  return { nsys, options, command: [...launch.before, ...program], outside };
}

/** Each option of nsys as ours; what we have no option for is handed to nsys as it is. */
function takeOver(
  words: readonly NsysWord[],
  leading: Readonly<Record<string, string>>,
): Partial<CaptureOptions> {
  const asked: { -readonly [Name in keyof CaptureOptions]?: CaptureOptions[Name] } = {};
  const env: Record<string, string> = { ...leading };
  const nsysArgs: NsysWord[] = [];
  const on = (value: string) => !/^(false|none|off|0)$/i.test(value);
  const readers: Readonly<Record<string, (value: string, word: NsysWord) => void>> = {
    output: value => void (asked.output = value),
    'force-overwrite': value => void (asked.force = on(value)),
    trace: value => Object.assign(asked, tracesOf(value)),
    'capture-range': value => {
      if (on(value)) asked.range = value;
    },
    'capture-range-end': value => {
      if (/^(repeat|none)/.test(value)) asked.rangeEnd = value;
    },
    'stop-on-range-end': () => {},
    // A graph as one block is corrected, not taken over: --graph-trace graph asks for it.
    'cuda-graph-trace': () => {},
    'cuda-memory-usage': value => void (asked.cudaMemory = on(value)),
    'gpu-metrics-device': value => metrics(value),
    'gpu-metrics-devices': value => metrics(value),
    delay: value => void (asked.delayS = secondsOf('--delay', value)),
    duration: value => void (asked.durationS = secondsOf('--duration', value)),
    sample: (value, word) => {
      if (value === 'system-wide') nsysArgs.push(word);
      asked.sample = on(value);
    },
    cudabacktrace: (value, word) => {
      if (/^(kernel|all|true)/.test(value)) asked.backtrace = true;
      else if (on(value)) nsysArgs.push(word);
    },
    'trace-fork-before-exec': value => void (asked.traceFork = on(value) ? undefined : false),
    'env-var': value => Object.assign(env, variablesOf(value)),
  };
  const metrics = (value: string) => {
    asked.gpuMetrics = on(value);
    if (on(value)) asked.gpuMetricsDevices = value;
  };
  for (const word of words) {
    const read = readers[word.name];
    if (read) read(word.value, word);
    else nsysArgs.push(word);
  }
  const window = env[WINDOW_VARIABLE] === undefined ? undefined : windowOf(env[WINDOW_VARIABLE]);
  if (window) delete env[WINDOW_VARIABLE];
  return {
    ...Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined)),
    ...(window ? { iterations: window } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(nsysArgs.length > 0 ? { nsysArgs } : {}),
  };
}

function tracesOf(value: string): Partial<CaptureOptions> {
  const kinds = value.split(',').map(kind => kind.trim());
  const others = kinds.filter(
    kind => !['cuda', 'nvtx', 'osrt', 'python-gil', 'cublas', 'cudnn', 'none', ''].includes(kind),
  );
  return {
    ...(kinds.includes('osrt') ? { osrt: true } : {}),
    ...(kinds.includes('python-gil') ? { gil: true } : {}),
    ...(kinds.includes('cublas') || kinds.includes('cudnn') ? { cublas: true } : {}),
    ...(others.length > 0 ? { traces: others } : {}),
  };
}

/** `A=1,B=2`: a part without a name belongs to the value before it, which nsys itself rejects. */
function variablesOf(value: string): Record<string, string> {
  const found: Record<string, string> = {};
  let last: string | undefined;
  for (const part of value.split(',')) {
    const [, name, text] = /^([A-Za-z_]\w*)=(.*)$/s.exec(part) ?? [];
    if (name !== undefined) found[(last = name)] = text;
    else if (last !== undefined) found[last] += `,${part}`;
  }
  return found;
}

function secondsOf(flag: string, value: string): number {
  const seconds = Number(value);
  if (value.trim() !== '' && seconds >= 0) return seconds;
  throw new UserError(
    'usage',
    `${flag} ${JSON.stringify(value)} of the nsys command is not a number of seconds.`,
    `For example: ${flag}=60`,
  );
}

/** Undefined where the engine's own value says something else than ranges. */
function windowOf(value: string): readonly IterationSpan[] | undefined {
  try {
    return readIterations(value);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
