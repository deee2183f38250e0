/** The form of what `--json` prints, from the form of an answer: the same for every command. */
import { count, list, note, object, orNull, string } from './document.js';

const input = object({
  file: string('base name; of a file in a given folder, with the name of the folder'),
  bytes: orNull(count('size of the file; null: standard input')),
  hash: orNull(
    string('sha256: of the content; sampled-sha256: of the size and 64 blocks of a file above 4 MiB', {
      pattern: '^(sampled-)?sha256:[0-9a-f]{64}$',
    }),
  ),
});

const cut = object({
  path: string('of the list in data'),
  from: count('first row that is shown'),
  shown: count('rows that are shown'),
  of: count('rows that there are'),
  more: string('options that give the next rows'),
});

interface Declared {
  readonly $schema: string;
  readonly $id: string;
  readonly title: string;
  readonly description?: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  /** Forms that refer to themselves. */
  readonly $defs?: object;
}

/** `--fields` leaves out fields of rows; without it, what is printed follows this to the letter. */
export function envelopedSchema(answer: object): object {
  const { $schema, $id, title, description, $defs, properties, required = [] } = answer as Declared;
  const { schema, notes: _, ...data } = properties;
  return {
    ...{ $schema, $id, title },
    ...(description === undefined ? {} : { description }),
    ...($defs ? { $defs } : {}),
    type: 'object',
    additionalProperties: false,
    required: ['schema', 'tool', 'inputs', 'notes', 'truncated', 'data'],
    properties: {
      schema,
      tool: string('name and version'),
      inputs: list(input, 'files that were read'),
      notes: list(note, 'data lost or anomalies found while reading'),
      truncated: list(cut, 'rows left out by --limit, --offset or --budget'),
      data: {
        type: 'object',
        additionalProperties: false,
        required: required.filter(name => name in data),
        properties: data,
      },
    },
  };
}
