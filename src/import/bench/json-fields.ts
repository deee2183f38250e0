/** Reading objects of strangers: a field that is missing or of another type is undefined, never a guess. */
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';

/** `at(report, 'engine', 'version')` */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isJsonObject(current) || !Object.hasOwn(current, name)) return undefined;
    current = current[name];
  }
  return current;
}

export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = at(value, ...path);
  return typeof found === 'number' ? found : undefined;
};

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
};

export const has = (value: JsonObject, ...names: readonly string[]): boolean =>
  names.every(name => Object.hasOwn(value, name));
