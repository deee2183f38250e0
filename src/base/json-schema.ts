/** Words to write JSON Schemas with: every field has a type and says what it is. */
export type Schema = { readonly [name: string]: SchemaPart };
type SchemaPart = string | number | boolean | null | readonly SchemaPart[] | Schema;
type Fields = Readonly<Record<string, Schema>>;

export const number = (description: string): Schema => ({ type: 'number', description });
export const text = (description: string): Schema => ({ type: 'string', description });
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/** All fields are there unless it is said which. */
export const object = (
  properties: Fields,
  required: readonly string[] = Object.keys(properties),
): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** Any field may be absent unless it is named. */
export const sparse = (properties: Fields, required: readonly string[] = []): Schema =>
  object(properties, required);

/** A field for each description, all made alike. */
export const fieldsOf = (
  make: (description: string) => Schema,
  descriptions: Readonly<Record<string, string>>,
): Record<string, Schema> =>
  Object.fromEntries(Object.entries(descriptions).map(([name, about]) => [name, make(about)]));

/** A figure over requests, as src/model/bench-run.ts keeps it. */
export const distribution = (description: string, byPercent: string): Schema => ({
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
export const note = (meaning = 'what it means for the reader'): Schema =>
  object({
    code: text('kind of note'),
    severity: { enum: ['info', 'warning', 'loss'] },
    text: text(meaning),
    count: number('how often'),
    example: text('one case'),
  });
