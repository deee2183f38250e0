/**
 * The words that JSON documents are declared with. A declaration is a TypeScript type (`Static<typeof …>`) and a JSON
 * Schema at once. Files that declare (`*-schema.ts`, `run/document.ts`) are imported as types alone: loading the library
 * behind them takes longer than most commands, and docs/schemas holds what others need of them.
 */
import Type, { type Static as Changeable, type TProperties, type TSchema } from 'typebox';

/** What is declared, as a type. A document is written once and never changed. */
export type Static<Schema extends TSchema> = Fixed<Changeable<Schema>>;
type Fixed<Value> = unknown extends Value ? Value : { readonly [Name in keyof Value]: Fixed<Value[Name]> };

/** What a value must keep to beside its type. */
type Limits = {
  readonly minimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
};

const about = (description: string | undefined, limits: Limits = {}) => ({
  ...limits,
  ...(description === undefined ? {} : { description }),
});

export const number = (description?: string, limits?: Limits) => Type.Number(about(description, limits));
export const integer = (description?: string, limits?: Limits) => Type.Integer(about(description, limits));
export const count = (description?: string) => integer(description, { minimum: 0 });
export const flag = (description?: string) => Type.Boolean(about(description));

/** `Word`: what we write there, where readers are promised no more than a string. */
export const string = <Word extends string = string>(description?: string, limits?: Limits) =>
  Type.Unsafe<Word>({ type: 'string', ...about(description, limits) });

export const only = <const Value extends string | number | true>(value: Value, description?: string) =>
  Type.Unsafe<Value>({ const: value, ...about(description) });

export const choice = <const Value extends string | number>(values: readonly Value[], description?: string) =>
  Type.Unsafe<Value>({ enum: values, ...about(description) });

export const stringOrNumber = (description?: string) =>
  Type.Unsafe<string | number>({ type: ['string', 'number'], ...about(description) });

/** An object of which readers are promised no more than that; `Shape` is what we write. */
export const anyObject = <Shape extends object = object>(description?: string) =>
  Type.Unsafe<Shape>({ type: 'object', ...about(description) });

/** The same, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  const {
    type,
    enum: values,
    anyOf,
  } = schema as TSchema & { type?: string; enum?: string[]; anyOf?: TSchema[] };
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    ...(type ? { type: [type, 'null'] } : {}),
    ...(values ? { enum: [...values, null] } : {}),
    ...(anyOf ? { anyOf: [...anyOf, { type: 'null' }] } : {}),
    ...about(description),
  });
}

/** One of several forms. */
export const either = <Forms extends TSchema[]>(forms: readonly [...Forms], description?: string) =>
  Type.Union([...forms], about(description));

export const list = <Item extends TSchema>(items: Item, description?: string, limits?: Limits) =>
  Type.Array(items, about(description, limits));

export const pair = <Item extends TSchema>(items: Item, description?: string) =>
  Type.Unsafe<readonly [Static<Item>, Static<Item>]>(list(items, description, { minItems: 2, maxItems: 2 }));

export const nothing = Type.Null;
export const optional = Type.Optional;

/** These fields and no others. */
export const object = <Fields extends TProperties>(fields: Fields, description?: string) =>
  Type.Object(fields, { additionalProperties: false, ...about(description) });

/** Any of these fields and no others. */
export const sparse = <Fields extends TProperties>(fields: Fields, description?: string) =>
  Type.Partial(object(fields), { additionalProperties: false, ...about(description) });

/** Fields whose names are data. */
export const mapOf = <Item extends TSchema>(items: Item, description?: string) =>
  Type.Unsafe<{ readonly [name: string]: Static<Item> }>({
    ...{ type: 'object', additionalProperties: items },
    ...about(description),
  });

/** Fields by names that are known, any of which may be absent. */
export const byName = <Name extends string, Item extends TSchema>(
  names: readonly Name[],
  items: Item,
  description?: string,
) =>
  Type.Unsafe<{ readonly [Known in Name]?: Static<Item> }>({
    ...{ type: 'object', propertyNames: { enum: names }, additionalProperties: items },
    ...about(description),
  });

/** Fields by the `$id` of the schema that each has of its own, any of which may be absent. */
export const references = <Item extends TSchema>(
  ids: Readonly<Record<string, string>>,
  description?: string,
) =>
  Type.Unsafe<{ readonly [name: string]: Static<Item> }>({
    type: 'object',
    properties: Object.fromEntries(Object.entries(ids).map(([name, $ref]) => [name, { $ref }])),
    additionalProperties: false,
    ...about(description),
  });

/** A field for each description, all made alike. */
export const fieldsOf = <Name extends string, Schema extends TSchema>(
  make: (description: string) => Schema,
  descriptions: Readonly<Record<Name, string>>,
) =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([name, description]) => [name, make(description)]),
  ) as unknown as { readonly [Known in Name]: Schema };

/** Counted, as NoteCounter does. */
export const note = object({
  code: string('kind of note'),
  severity: choice(['info', 'warning', 'loss']),
  text: string('what it means for the reader'),
  count: number('how often'),
  example: string('one case'),
});

/** A document that names its form: `stepscope-check/1`. */
export const document = <const Form extends string, Fields extends TProperties>(
  form: Form,
  title: string,
  description: string | undefined,
  fields: Fields,
) => titled(form.replace('/', '-'), title, description, object({ schema: only(form), ...fields }));

export const titled = <Schema extends TSchema>(
  id: string,
  title: string,
  description: string | undefined,
  schema: Schema,
): Schema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: id,
  title,
  ...about(description),
  ...schema,
});
