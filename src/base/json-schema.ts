/** Words to write JSON Schemas with: every field has a type and says what it is. */
export type JsonSchema = { readonly [name: string]: SchemaPart };
type SchemaPart = string | number | boolean | null | readonly SchemaPart[] | JsonSchema;
type Fields = Readonly<Record<string, JsonSchema>>;

export const number = (description: string): JsonSchema => ({ type: 'number', description });
export const text = (description: string): JsonSchema => ({ type: 'string', description });
export const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
export const list = (items: JsonSchema, description: string): JsonSchema => ({
  type: 'array',
  items,
  description,
});

/** All fields are there unless it is said which. */
export const object = (
  properties: Fields,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Any field may be absent unless it is named. */
export const sparse = (properties: Fields, required: readonly string[] = []): JsonSchema =>
  object(properties, required);

/** A field for each description, all made alike. */
export const fieldsOf = (
  make: (description: string) => JsonSchema,
  descriptions: Readonly<Record<string, string>>,
): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(descriptions).map(([name, about]) => [name, make(about)]));

/** A figure over requests, as src/model/bench-run.ts keeps it. */
export const distribution = (description: string, byPercent: string): JsonSchema => ({
  ...sparse(
    {
      ...fieldsOf(number, {
        meanNs: 'mean (nanoseconds)',
        stddevNs: 'standard deviation (nanoseconds)',
        minNs: 'least (nanoseconds)',
        maxNs: 'most (nanoseconds)',
      }),
      percentilesNs: { type: 'object', additionalProperties: { type: 'number' }, description: byPercent },
    },
    ['percentilesNs'],
  ),
  description,
});

/** A note, as src/base/notes.ts has them. */
export const note = (meaning = 'what it means for the reader'): JsonSchema =>
  object({
    code: text('kind of note'),
    severity: { enum: ['info', 'warning', 'loss'] },
    text: text(meaning),
    count: number('how often'),
    example: text('one case'),
  });
