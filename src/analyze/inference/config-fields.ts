/**
 * Reads fields of a model's config.json, which may come from anywhere: every number is checked before use, and
 * what is wrong is said in two lines, naming the field.
 */

import type { JsonObject } from '../../base/json/json-object.js';
import { UserError } from '../../base/user-error.js';

/** No published model comes near; beyond it products of sizes would lose exactness. */
const largestSize = 1e7;
const whatToDo = 'Give the config.json published with the model, or a known model name such as llama-3.1-8b.';

export function badConfig(whatHappened: string, hint = whatToDo): UserError {
  return new UserError('usage', whatHappened, hint);
}

/** The first of several names for the same thing that has a value. */
export function present(fields: JsonObject, names: readonly string[]): string | undefined {
  return names.find(name => fields[name] !== undefined && fields[name] !== null);
}

export function size(fields: JsonObject, names: string | readonly string[], least = 1): number {
  const known = typeof names === 'string' ? [names] : names;
  const found = optionalSize(fields, known, least);
  if (found === undefined) throw badConfig(`The model config has no ${known.join(' or ')}.`);
  return found;
}

export function optionalSize(fields: JsonObject, names: readonly string[], least = 1): number | undefined {
  const name = present(fields, names);
  if (name === undefined) return undefined;
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > largestSize)
    throw badConfig(
      `The model config's ${name} is ${shown(value)}, not a whole number from ${least} to ${largestSize}.`,
    );
  return value;
}

/** A list with one entry per layer, when there is one. */
export function perLayer(fields: JsonObject, name: string, layers: number): readonly unknown[] | undefined {
  const value = fields[name];
  if (!Array.isArray(value)) return undefined;
  if (value.length !== layers)
    throw badConfig(`The model config's ${name} has ${value.length} entries for ${layers} layers.`);
  return value;
}

/** Whatever was there, on one line and short. */
export function shown(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? typeof value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
