/**
 * What can be done to a server that runs already, on this or another machine. nsys cannot attach to a process, so there
 * are two ways: the engine's own endpoints, or our agent inside it. Pure: the processes are handed in as a text.
 */
import { type PresetName, presets, profilingVariables, STAGES_ONLY } from '../catalog/engine-programs.js';
import { engines } from '../catalog/engines.js';
import { baseName, isPython, textOf } from './launchers.js';
import { readPasted } from './pasted-command.js';
import { type Program, readProgram } from './read-command.js';

export interface RunningProcess {
  readonly pid: number;
  readonly words: readonly string[];
  /** Only variables that decide what can be done, see `profilingVariables`. */
  readonly env: Readonly<Record<string, string>>;
}

/** No other variable of a process is read: environments hold keys. */
const ASKED_VARIABLES = ['STEPSCOPE_[A-Z_]*', ...profilingVariables].map(name => `^${name}=`).join('\\|');

/** One process after the other: `P` and its number, `W` and a word each, `E` and a variable each. */
export const LIST_PROCESSES = `for d in /proc/[0-9]*; do
w=$(tr '\\n\\0' ' \\n' <"$d/cmdline" 2>/dev/null) && [ -n "$w" ] || continue
echo "P\${d#/proc/}"; printf '%s\\n' "$w" | while IFS= read -r l; do printf 'W%s\\n' "$l"; done
{ tr '\\n\\0' ' \\n' <"$d/environ"; } 2>/dev/null | grep '${ASKED_VARIABLES}' | while IFS= read -r l; do printf 'E%s\\n' "$l"; done
done; true`;

export function readProcesses(text: string): RunningProcess[] {
  const found: { pid: number; words: string[]; env: Record<string, string> }[] = [];
  for (const line of text.split('\n')) {
    const rest = line.slice(1);
    const last = found.at(-1);
    if (line[0] === 'P') found.push({ pid: Number(rest), words: [], env: {} });
    else if (line[0] === 'W') last?.words.push(rest);
    else if (line[0] === 'E' && last)
      last.env[rest.slice(0, rest.indexOf('='))] = rest.slice(rest.indexOf('=') + 1);
  }
  return found;
}

/** Scripts of pip run as `python3 -u /usr/bin/vllm serve`: the program is the script. */
export function programWords(words: readonly string[]): readonly string[] {
  if (!isPython(baseName(words[0] ?? ''))) return words;
  const at = words.findIndex((word, i) => i > 0 && !/^-[uOBEsSIb]+$/.test(word));
  const script = words[at] ?? '';
  return script.startsWith('/') && !script.endsWith('.py') ? words.slice(at) : words;
}

/** A name as the process means it, for others on the same machine. */
const seenFromOutside = (pid: number, file: string): string =>
  file.startsWith('/') ? file : `/proc/${pid}/cwd/${file}`;

export interface ServingProcess extends RunningProcess {
  readonly program: Program;
  readonly port?: number;
}

/** The process that serves, at this port if one is named; of several with the same command the first started one. */
export function findServer(
  processes: readonly RunningProcess[],
  asked?: PresetName,
  wanted?: number,
): ServingProcess | undefined {
  const servers = processes.flatMap(one => {
    const words = programWords(one.words);
    const program = readProgram(words, asked);
    if (readProgram(words).server === false) return [];
    const port = program.address?.split(':').at(-1);
    return [{ ...one, words, program, ...(port === undefined ? {} : { port: Number(port) }) }];
  });
  servers.sort((a, b) => a.pid - b.pid);
  const portOf = ({ port, program }: ServingProcess) => port ?? presets[program.preset].port;
  return wanted === undefined ? servers[0] : servers.find(server => portOf(server) === wanted);
}

/** How to record steps of it without starting it again. */
export type WayIn =
  /** POST /start_profile; `folder`: where the engine writes, if it was decided when the server started. */
  | { readonly by: 'endpoints'; readonly folder?: string }
  /** A window of the agent, opened by its file or by a signal; `writes`: the beginning of the names of what appears. */
  | {
      readonly by: 'agent';
      readonly pid: number;
      readonly trigger?: string;
      /** Where it shows how far the program is. */
      readonly progress?: string;
      readonly writes: string;
    }
  | { readonly by: 'nothing'; readonly why: string };

export function wayInto(server: ServingProcess, processes: readonly RunningProcess[]): WayIn {
  const { engine } = server.program;
  const agent = withAgent(processes);
  if (agent?.by === 'agent') return agent;
  if (engine === engines.sglang && /^(1|true|yes|y)$/i.test(server.env[STAGES_ONLY] ?? ''))
    return {
      by: 'nothing',
      why: `it was started with ${STAGES_ONLY}, and ${engine.label} then ends at a /start_profile that is not by stage`,
    };
  if (engine === engines.sglang || engine === engines.trtllm) return { by: 'endpoints' };
  if (engine === engines.vllm) return intoVllm(server);
  return (
    agent ?? {
      by: 'nothing',
      why: `${engine.label} has no endpoint that starts a profile, and the agent is not loaded in it`,
    }
  );
}

/** Variables that load the agent. Children inherit them, so the process that polls the file need not be known. */
const AGENT =
  /^STEPSCOPE_(TRIGGER|TORCH_TRACE|PROFILE_START_STOP|SIDECAR|MARKERS|LIVE_STEPS|STEP|EXPERT_LOAD)$/;

function withAgent(processes: readonly RunningProcess[]): WayIn | undefined {
  const loaded = processes.filter(({ env }) => Object.keys(env).some(name => AGENT.test(name)));
  if (loaded.length === 0) return undefined;
  const [{ env, pid }] = loaded;
  const { STEPSCOPE_TRIGGER: trigger, STEPSCOPE_TORCH_TRACE: trace, STEPSCOPE_PROGRESS: progress } = env;
  const writes = trace ?? nsysOutput(processes);
  const why =
    writes === undefined
      ? 'the agent is loaded but records nothing: STEPSCOPE_TORCH_TRACE is not set, and no nsys runs around the server'
      : trigger === undefined && loaded.length > 1
        ? 'the agent is loaded in several processes, and only a file (STEPSCOPE_TRIGGER) reaches the right one'
        : undefined;
  if (writes === undefined || why !== undefined) return { by: 'nothing', why: why! };
  return {
    by: 'agent',
    pid,
    ...(trigger === undefined ? {} : { trigger: seenFromOutside(pid, trigger) }),
    ...(progress === undefined ? {} : { progress: seenFromOutside(pid, progress) }),
    writes: trace === undefined ? writes : seenFromOutside(pid, trace),
  };
}

/** An nsys around the server, which records when the agent opens its range. */
function nsysOutput(processes: readonly RunningProcess[]): string | undefined {
  const nsys = processes.find(({ words }) => baseName(words[0] ?? '') === 'nsys' && words[1] === 'profile');
  const output = nsys && readPasted(nsys.words, []).options.output;
  return nsys && output !== undefined ? seenFromOutside(nsys.pid, output) : undefined;
}

function intoVllm({ pid, words, env }: ServingProcess): WayIn {
  if (env.VLLM_TORCH_PROFILER_DIR !== undefined)
    return { by: 'endpoints', folder: seenFromOutside(pid, env.VLLM_TORCH_PROFILER_DIR) };
  const config = profilerConfig(words);
  if (config?.profiler === 'torch')
    return {
      by: 'endpoints',
      ...(typeof config.torch_profiler_dir === 'string'
        ? { folder: seenFromOutside(pid, config.torch_profiler_dir) }
        : {}),
    };
  return {
    by: 'nothing',
    why:
      config || env.VLLM_TORCH_CUDA_PROFILE !== undefined
        ? `${engines.vllm.label} was started with a CUDA profiler range, which only an nsys around the server records`
        : `${engines.vllm.label} offers /start_profile only if a profiler was configured when it started (--profiler-config)`,
  };
}

/** One JSON text, or dotted options: `--profiler-config.profiler torch`. */
function profilerConfig(words: readonly string[]): Record<string, unknown> | undefined {
  const text = textOf(words, ['--profiler-config']);
  const dotted = words.flatMap((word, i) => {
    const key = /^--profiler-config\.([a-z_]+)(?:=(.*))?$/.exec(word);
    return key ? [[key[1], key[2] ?? words[i + 1]]] : [];
  });
  if (text === undefined) return dotted.length > 0 ? Object.fromEntries(dotted) : undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
