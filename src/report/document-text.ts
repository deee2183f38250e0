/**
 * A document as JSON text: objects are indented by two, a row is one line. So two results differ in the lines of the
 * rows that differ, and a result takes half the bytes.
 */
import { printableJson } from '../base/printable.js';

type Value = unknown;

const isObject = (value: Value): value is Readonly<Record<string, Value>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object that holds no list of objects is one line wherever it stands in a list. */
const isRow = (value: Value): boolean =>
  !isObject(value) ||
  Object.values(value).every(member =>
    Array.isArray(member) ? !member.some(isObject) : !isObject(member) || isRow(member),
  );

const compact = (value: Value): string => JSON.stringify(value) ?? 'null';

function lines(value: Value, indent: string): string {
  const deeper = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0 || !value.some(isObject)) return compact(value);
    const items = value.map(item => `${deeper}${isRow(item) ? compact(item) : lines(item, deeper)}`);
    return `[\n${items.join(',\n')}\n${indent}]`;
  }
  if (!isObject(value)) return compact(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return '{}';
  const text = members.map(([name, member]) => `${deeper}${compact(name)}: ${lines(member, deeper)}`);
  return `{\n${text.join(',\n')}\n${indent}}`;
}

export const documentText = (document: object): string => `${printableJson(lines(document, ''))}\n`;

/** One line, for protocols of lines. */
export const documentLine = (document: object): string => `${printableJson(compact(document))}\n`;
