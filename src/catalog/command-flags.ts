/**
 * What a recorded command line tells about a program, and may be told: its engine, and which of the options that
 * advice asks for it has. Everything else stays in the file: paths, names and keys stand on command lines.
 */
import { adviceFor } from './advice-texts.js';
import { engineEvidence } from './engine-evidence.js';
import { presets, tellPreset } from './engine-programs.js';

/** Settings of a capture under which these are kept. */
export const COMMAND_ENGINE = 'command engine';
export const COMMAND_FLAGS = 'command flags';

const KNOWN_OPTIONS = new Set([
  ...Object.values(adviceFor).flatMap(texts =>
    texts.flatMap(({ text }) => text.match(/--[a-z][a-z-]+/g) ?? []),
  ),
  ...engineEvidence.flatMap(({ overlapFlags }) => [overlapFlags?.on ?? '', overlapFlags?.off ?? '']),
]);
/** Programs and modules of engines: `vllm`, `sglang.launch_server`, `trtllm-serve`. */
const ENGINE_WORD = /^(?:vllm|sglang|trtllm|tensorrt_llm)(?:[.-][a-z_.]+)?$/;
const baseName = (word: string) => word.slice(word.lastIndexOf('/') + 1);

/** Nothing where no engine is told: options mean what their program means by them. */
export function settingsOfCommand(words: readonly string[]): Record<string, string> {
  const told = words.map(toldOfWord);
  const engine = engineOf(told.filter(word => word !== ''));
  if (engine === undefined) return {};
  const flags = told.filter(word => word.startsWith('--'));
  return { [COMMAND_ENGINE]: engine, [COMMAND_FLAGS]: [...new Set(flags)].join(' ') };
}

/** What of one word of a command is told, and kept in a copy fit to share. */
export function toldOfWord(word: string): string {
  if (word === '-m' || word === 'serve') return word;
  const [option] = word.split('=');
  if (KNOWN_OPTIONS.has(option)) return option;
  return ENGINE_WORD.test(baseName(word)) ? baseName(word) : '';
}

function engineOf(words: readonly string[]): string | undefined {
  for (let i = 0; i < words.length; i++) {
    const isModule = words[i - 1] === '-m';
    const { preset } = tellPreset(isModule ? '' : words[i], isModule ? words[i] : '', words.slice(i));
    if (preset !== 'python') return presets[preset].engine.label;
  }
  return undefined;
}
