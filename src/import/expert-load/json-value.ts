/** A whole number from 0, or undefined. */
import { isJsonObject } from '../../base/json/json-object.js';
export function wholeAt(value: unknown, key: string): number | undefined {
  if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
  const found = value[key];
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}
