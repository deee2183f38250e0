/** What a command runs: which engine, as a server or not, or only a client that talks to one. Told from its words. */
import {
  alwaysServes,
  clientName,
  type PresetName,
  presets,
  takesModelFirst,
  tellPreset,
  wrapperPrograms,
} from '../catalog/engine-programs.js';
import type { Engine } from '../catalog/engines.js';
import { baseName, isPython, textOf } from './launchers.js';

export interface Program {
  readonly preset: PresetName;
  readonly engine: Engine;
  readonly server: boolean;
  /** The name of a benchmark client or the like: what runs there never touches the model's GPU. */
  readonly client?: string;
  /** Starts a container: nsys outside sees only the program that asked for it. */
  readonly container?: string;
  /** `host:port` a server listens on. */
  readonly address?: string;
  /** The model as the command names it. */
  readonly model?: string;
}

/** Programs that start another and stand before it. */
export function withoutWrappers(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const name = baseName(rest[0] ?? '');
    if (name === 'env') {
      rest = rest.slice(1);
      while (/^\w+=/.test(rest[0] ?? '')) rest = rest.slice(1);
    } else if (wrapperPrograms.includes(name)) {
      rest = rest.slice(1);
      if (name === 'uv' && rest[0] === 'run') rest = rest.slice(1);
      // Their own options, and the lists of cores and nodes those take.
      while (/^(-|0x|\d+[,\d-]*$|all$)/.test(rest[0] ?? '')) rest = rest.slice(1);
    } else return rest;
  }
}

export function readProgram(command: readonly string[], asked?: PresetName): Program {
  const words = withoutWrappers(command);
  const name = baseName(words[0] ?? '');
  const asModule = isPython(name) && words[1] === '-m';
  /** What Python runs, without its own switches. */
  const script = isPython(name)
    ? asModule
      ? words[2]
      : words.slice(1).find(word => !word.startsWith('-'))
    : undefined;
  const told = tellPreset(name, script ?? '', words);
  const preset = asked ?? told.preset;
  const client = clientName(name, script ?? '', words);
  // `python -m` names a module, not a model.
  const named = asModule ? words.slice(3) : words;
  const model = textOf(named, ['--model', '-m', '--model-path', '--model-id', '--model_path']);
  const positional = takesModelFirst.test(name)
    ? words.slice(1).find(word => !['serve', 'bench', 'latency', 'throughput'].includes(word))
    : undefined;
  return {
    preset,
    engine: presets[preset].engine,
    server: client === undefined && (asked === undefined ? told.server : told.server || alwaysServes(asked)),
    ...(client === undefined ? {} : { client }),
    ...(/^(docker|podman|nerdctl|enroot|singularity|apptainer|kubectl)$/.test(name)
      ? { container: name }
      : {}),
    ...optional('address', addressOf(words)),
    ...optional('model', model ?? positional),
  };
}

const optional = <K extends string, V>(key: K, value: V | undefined) =>
  (value === undefined || (value as unknown as string).startsWith?.('-') ? {} : { [key]: value }) as {
    [P in K]?: V;
  };

function addressOf(words: readonly string[]): string | undefined {
  const port = textOf(words, ['--port', '-p']);
  if (port === undefined || !/^\d+$/.test(port)) return undefined;
  const host = textOf(words, ['--host', '--hostname']);
  return `${host === undefined || /^(0\.0\.0\.0|::)$/.test(host) ? 'localhost' : host}:${port}`;
}
