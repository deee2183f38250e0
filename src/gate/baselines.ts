/**
 * A file of named baselines, fit for a repository: one metric per line, always in the same order, nothing that changes
 * by itself (no dates, no machine names), so that a diff shows what changed and saving again changes nothing.
 */

import { UserError } from '../base/user-error.js';
import type { Run } from '../run/run.js';

export const BASELINES_FORM = 'stepscope-baselines/1';
export const DEFAULT_BASELINES = 'stepscope-baselines.json';
/** Repeats beyond this tell nothing more and make the file long. */
export const MOST_RUNS = 50;
export const MOST_BASELINES = 1000;

export interface Baseline {
  readonly name: string;
  /** Version of stepscope that measured it. */
  readonly tool: string;
  /** At least one; several runs of the same code tell how much a figure moves by itself. */
  readonly runs: readonly Run[];
}

export interface Baselines {
  /** In the order they were first saved: a history. */
  readonly baselines: readonly Baseline[];
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;

export function requireName(name: string | undefined): string {
  if (name !== undefined && NAME.test(name)) return name;
  throw new UserError(
    'usage',
    name === undefined
      ? 'No baseline name was given.'
      : `${JSON.stringify(name.slice(0, 100))} is not a valid baseline name.`,
    'Use letters, digits and . _ + -, for example: main, v1.4, h200-batch8',
  );
}

export function findBaseline({ baselines }: Baselines, name: string, file: string): Baseline {
  const found = baselines.find(baseline => baseline.name === name);
  if (found) return found;
  const names = baselines.map(baseline => baseline.name);
  throw new UserError(
    'not-found',
    `${file} has no baseline ${JSON.stringify(name)}.`,
    names.length === 0
      ? `It has no baselines yet: stepscope baseline save ${name} PROFILE --baselines ${file}`
      : `It has: ${names.slice(0, 12).join(', ')}${names.length > 12 ? ' …' : ''}`,
  );
}

/** Replaces the baseline of that name where it stands, or comes last. */
export function withBaseline({ baselines }: Baselines, added: Baseline): Baselines {
  const at = baselines.findIndex(({ name }) => name === added.name);
  if (at < 0) return { baselines: [...baselines, added] };
  return { baselines: baselines.map((known, i) => (i === at ? added : known)) };
}

export function formatBaselines({ baselines }: Baselines): string {
  const kept = baselines.map(({ runs, ...baseline }) => ({
    ...baseline,
    runs: runs.map(({ files, facts, figures, steps }) => ({ files, facts, figures, steps })),
  }));
  return `${formatKept({ schema: BASELINES_FORM, baselines: kept }, '')}\n`;
}

const WIDTH = 110;

/** JSON with what fits on a line on one line: a metric, a list of steps wrapped. Order is that of the objects. */
export function formatKept(value: unknown, indent: string): string {
  const flat = JSON.stringify(value);
  if (value === null || typeof value !== 'object') return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    if (value.every(item => typeof item === 'number')) return wrapNumbers(value, indent);
    return `[\n${value.map(item => `${inner}${formatKept(item, inner)}`).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const isSmall =
    entries.every(([, item]) => item === null || typeof item !== 'object') && entries.length <= 4;
  if (isSmall)
    return `{ ${entries.map(([key, item]) => `${JSON.stringify(key)}: ${JSON.stringify(item)}`).join(', ')} }`;
  const lines = entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${formatKept(item, inner)}`);
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

function wrapNumbers(values: readonly number[], indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const value of values) {
    if (line !== '' && indent.length + line.length + String(value).length > WIDTH) {
      lines.push(line);
      line = '';
    }
    line += `${line === '' ? '' : ' '}${value},`;
  }
  lines.push(line.slice(0, -1));
  return `[\n${lines.map(part => `${indent}  ${part}`).join('\n')}\n${indent}]`;
}
