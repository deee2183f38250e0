/** The JSON Schema of a document, as it is published: commands need no more of their declarations than this file. */
import { readFileSync } from 'node:fs';

export const publishedSchema = (name: string): string =>
  readFileSync(new URL(`../../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8');
