/** Objects of strangers. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A whole number from 0, or undefined. */
export function wholeAt(value: unknown, key: string): number | undefined {
  if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
  const found = value[key];
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
}
