/** A tool of the server: what it takes, as JSON Schema, and the command that answers it. */
import { UserError } from '../base/user-error.js';
import type { AllowedFolders } from './allowed-folders.js';

export type Arguments = Readonly<Record<string, unknown>>;

/** One argument. `files`: paths that are checked against the folders of the server. */
interface Parameter {
  readonly kind: 'text' | 'texts' | 'file' | 'files' | 'number' | 'flag';
  readonly about: string;
  readonly required?: true;
}

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly takes: Readonly<Record<string, Parameter>>;
  /** Words of the command line, without what bounds the answer. */
  command(args: Arguments): readonly string[];
}

const LONGEST_TEXT = 20_000;
const MOST_ITEMS = 256;

const forms = {
  text: { type: 'string', maxLength: LONGEST_TEXT },
  file: { type: 'string', maxLength: 4096 },
  texts: { type: 'array', items: { type: 'string', maxLength: LONGEST_TEXT }, maxItems: MOST_ITEMS },
  files: { type: 'array', items: { type: 'string', maxLength: 4096 }, minItems: 1, maxItems: MOST_ITEMS },
  number: { type: 'integer', minimum: 0, maximum: 1e9 },
  flag: { type: 'boolean' },
} as const;

/** What bounds every answer. */
export const shared: Tool['takes'] = {
  maxBytes: { kind: 'number', about: 'size of the answer, 1000 to 60000 bytes (default 6000)' },
  limit: { kind: 'number', about: 'rows of each list' },
  offset: { kind: 'number', about: 'rows of each list to skip' },
  fields: { kind: 'texts', about: 'only these fields of each row' },
};

export function inputSchema({ takes }: Tool): { type: 'object'; [name: string]: unknown } {
  const all = Object.entries({ ...takes, ...shared });
  return {
    type: 'object',
    properties: Object.fromEntries(
      all.map(([name, { kind, about }]) => [name, { ...forms[kind], description: about }]),
    ),
    required: all.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
}

/** The arguments with paths resolved; anything that does not fit is the caller's mistake. */
export function checkedArguments(tool: Tool, given: Arguments, folders: AllowedFolders): Arguments {
  const takes: Tool['takes'] = { ...tool.takes, ...shared };
  const wrong = (what: string) =>
    new UserError('usage', `${tool.name}: ${what}.`, `It takes: ${Object.keys(takes).join(', ')}`);
  for (const name of Object.keys(given))
    if (!Object.hasOwn(takes, name)) throw wrong(`unknown argument ${JSON.stringify(name.slice(0, 80))}`);
  const checked: Record<string, unknown> = {};
  for (const [name, { kind, required }] of Object.entries(takes)) {
    const value = given[name];
    if (value === undefined || value === null) {
      if (required) throw wrong(`${name} is missing`);
      continue;
    }
    if (!fits(kind, value)) throw wrong(`${name} is not ${words[kind]}`);
    if (kind === 'file') checked[name] = folders.resolve(value as string);
    else if (kind === 'files') checked[name] = (value as string[]).map(file => folders.resolve(file));
    else checked[name] = value;
  }
  return checked;
}

const words = {
  ...{ text: 'a text', file: 'a path', texts: 'a list of texts', files: 'a list of paths' },
  ...{ number: 'a whole number', flag: 'true or false' },
};

function fits(kind: Parameter['kind'], value: unknown): boolean {
  const isText = (item: unknown) => typeof item === 'string' && item.length <= LONGEST_TEXT;
  switch (kind) {
    case 'text':
    case 'file':
      return isText(value);
    case 'texts':
      return Array.isArray(value) && value.length <= MOST_ITEMS && value.every(isText);
    case 'files':
      return Array.isArray(value) && value.length > 0 && value.length <= MOST_ITEMS && value.every(isText);
    case 'number':
      return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 1e9;
    case 'flag':
      return typeof value === 'boolean';
  }
}
