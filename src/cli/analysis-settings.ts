/** The options `analyze` and `steps` share: what to look at, and how steps and kernels are told. */
import * as fs from 'node:fs';
import type { Json, Settings } from '../analyze/analysis.js';
import { UserError } from '../base/user-error.js';
import { parseUserRules } from '../catalog/kernels/user-rules.js';
import { findModel, modelPresets } from '../catalog/models.js';
import { isPhase, phases } from '../catalog/phases.js';
import { parsePolicy } from '../catalog/policy.js';
import type { OptionHelp } from './command.js';

export const settingOptions = {
  whole: { type: 'boolean' },
  iterations: { type: 'string' },
  phase: { type: 'string' },
  marker: { type: 'string' },
  rules: { type: 'string' },
  requested: { type: 'string' },
  policy: { type: 'string' },
} as const;

export const settingHelp: readonly OptionHelp[] = [
  { flags: '--whole', meaning: 'the whole trace instead of the steady state' },
  { flags: '--iterations A-B', meaning: 'only these steps, both included; lists are fine: 3,10-20' },
  { flags: '--phase PHASE', meaning: `only steps of this phase: ${phases.map(({ id }) => id).join(', ')}` },
  {
    flags: '--marker REGEX',
    meaning: 'your own step marker; groups iteration, phase, context, generation, tokens are read',
  },
  { flags: '--rules FILE', meaning: 'your own kernel families (JSON, see docs/kernel-families.md)' },
  { flags: '--policy FILE', meaning: 'your own thresholds for findings (JSON, see docs/findings.md)' },
  { flags: '--requested A-B', meaning: 'what TLLM_PROFILE_START_STOP was, to tell if its end was included' },
];

interface Values {
  readonly whole?: boolean;
  readonly iterations?: string;
  readonly phase?: string;
  readonly marker?: string;
  readonly rules?: string;
  readonly requested?: string;
  readonly policy?: string;
  readonly model?: string;
  readonly tp?: string;
}

export function readSettings(values: Values): Settings {
  const { whole, iterations, phase, marker, rules, requested, model, tp, policy } = values;
  if (phase !== undefined && !isPhase(phase)) {
    throw new UserError(
      'usage',
      `${JSON.stringify(phase)} is not a phase.`,
      `Use one of: ${phases.map(known => known.id).join(', ')}`,
    );
  }
  return {
    ...(whole ? { whole } : {}),
    ...(iterations === undefined ? {} : { iterations: readSpans('--iterations', iterations) }),
    ...(phase === undefined ? {} : { phase }),
    ...(marker === undefined ? {} : { marker: readPattern(marker) }),
    ...(rules === undefined ? {} : { kernelRules: parseUserRules(readJson('--rules', rules)) }),
    ...(requested === undefined ? {} : { requested: readSpans('--requested', requested)[0] }),
    ...(policy === undefined ? {} : { policy: parsePolicy(readJson('--policy', policy)) }),
    ...(model === undefined ? {} : { model: readModel(model) }),
    ...(tp === undefined ? {} : { tensorParallel: readCount('--tp', tp) }),
  };
}

function readSpans(option: string, text: string): { first: number; last: number }[] {
  return text.split(',').map(piece => {
    const match = /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(piece);
    const first = Number(match?.[1]);
    const last = match?.[2] === undefined ? first : Number(match[2]);
    if (!match || last < first) {
      throw new UserError(
        'usage',
        `${JSON.stringify(text)} is no list of iterations.`,
        `Write ${option} A-B with A not above B, for example ${option} 100-150`,
      );
    }
    return { first, last };
  });
}

function readCount(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UserError('usage', `${JSON.stringify(text)} is no count.`, `For example: ${option} 8`);
}

function readPattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new UserError(
      'usage',
      `--marker is no regular expression: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}.`,
      "For example: --marker '^step (?<iteration>\\d+) (?<phase>prefill|decode)'",
    );
  }
}

/** A file in Hugging Face's form, or the name of a preset. */
function readModel(text: string): Json {
  const preset = findModel(text);
  if (preset && !fs.existsSync(text)) return preset.config as Json;
  if (!fs.existsSync(text)) {
    throw new UserError(
      'usage',
      `There is no file and no model preset ${JSON.stringify(text)}.`,
      `Give the model's config.json, or one of: ${modelPresets.map(known => known.id).join(', ')}`,
    );
  }
  return readJson('--model', text) as Json;
}

const MOST_BYTES = 4e6;

function readJson(option: string, file: string): unknown {
  try {
    if (fs.statSync(file).size > MOST_BYTES) throw new Error('it is too large to be that file');
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UserError(
      'usage',
      `${file} cannot be read as JSON: ${(error as Error).message}`,
      `Check the file given with ${option}.`,
    );
  }
}
