/**
 * JSON: nested lists of counts, alone or as `counts`, `expert_counts` or `logical_count` (what SGLang's recorder
 * gives, and what its --init-expert-location takes), or chosen experts as `topk_ids` or `token_selected_experts`.
 */

import { isJsonObject } from '../../base/json/json-object.js';
import { checkShape, flattenCounts } from './check-counts.js';
import { chooseMeaning } from './counts-or-ids.js';
import { type LoadContent, refused } from './load-content.js';
import type { LoadImporter, LoadOptions } from './load-importer.js';
import { heldSteps, oneStep } from './one-step.js';
import { IdCounter } from './routed-ids.js';

const COUNT_KEYS = ['logical_count', 'counts', 'expert_counts'];
const ID_KEYS = ['topk_ids', 'topk_ids_of_layer', 'token_selected_experts'];
const keyed = (keys: readonly string[]) => new RegExp(`"(?:${keys.join('|')})"\\s*:\\s*\\[`);

export const jsonCounts: LoadImporter = {
  id: 'json',
  label: 'JSON lists of counts (including SGLang expert distribution) or chosen experts',
  recognizes({ headText }) {
    const text = headText.trimStart();
    // The agent's file has counts too, and more to say about them.
    if (text.includes('"stepscopeExpertLoad"')) return false;
    return /^\[\s*\[/.test(text) || (text[0] === '{' && keyed([...COUNT_KEYS, ...ID_KEYS]).test(text));
  },
  async open(content, options) {
    const document = await content.json();
    const key = isJsonObject(document)
      ? [...COUNT_KEYS, ...ID_KEYS].find(name => Object.hasOwn(document, name))
      : undefined;
    const value = isJsonObject(document) && key !== undefined ? document[key] : document;
    const shape = shapeOf(value);
    if (!Array.isArray(value) || (shape.length !== 2 && shape.length !== 3)) throw noLists(content.name);
    const asked = options.as ?? (key === undefined ? undefined : ID_KEYS.includes(key) ? 'ids' : 'counts');
    const rows = () => (shape.length === 2 ? value : value[0]).slice(0, 512) as number[][];
    const meaning = chooseMeaning(content.name, shape, rows, asked);
    return meaning === 'ids' ? ids(content, value, shape, options) : counts(content, value, shape);
  },
};

/** Lengths along the first element of each level. */
function shapeOf(value: unknown): number[] {
  const shape: number[] = [];
  for (let at = value; Array.isArray(at) && shape.length < 5; at = at[0]) shape.push(at.length);
  return shape;
}

function counts(content: LoadContent, value: unknown[], shape: readonly number[]) {
  const isSeries = shape.length === 3;
  const [layers, experts] = shape.slice(-2);
  checkShape(content.name, layers, experts);
  const iterations = (isSeries ? value : [value]) as unknown[];
  const steps = iterations.map((rows, iteration) => {
    const where = isSeries ? `iteration ${iteration}, ` : '';
    if (!Array.isArray(rows) || rows.length !== layers)
      throw refused(
        content.name,
        `${where}${Array.isArray(rows) ? rows.length : 'no'} layers, but the first iteration has ${layers}`,
        'Every iteration needs the same layers.',
      );
    const flat = new Float64Array(layers * experts);
    flattenCounts(content.name, rows, experts, where, flat);
    return { iteration, counts: flat };
  });
  const numbers = Array.from({ length: layers }, (_, i) => i);
  return heldSteps(content, jsonCounts.id, { layers: numbers, experts }, steps);
}

function ids(content: LoadContent, value: unknown[], shape: readonly number[], options: LoadOptions) {
  const layers = (shape.length === 3 ? value : [value]) as unknown[];
  const topK = shape[shape.length - 1];
  const counter = new IdCounter(content.name, layers.length, topK, options.experts);
  layers.forEach((tokens, layer) => {
    if (!Array.isArray(tokens)) throw noLists(content.name);
    for (const row of tokens) {
      if (!Array.isArray(row) || row.length !== topK)
        throw refused(
          content.name,
          `layer ${layer} has a token that does not have ${topK} IDs`,
          'Every token needs the same number of IDs.',
        );
      counter.add(layer, row, 0);
    }
  });
  const { counts: flat, experts } = counter.finish();
  const numbers = layers.map((_, i) => i);
  return oneStep(content, jsonCounts.id, { layers: numbers, experts, topK }, flat, counter.notes);
}

const noLists = (name: string) =>
  refused(
    name,
    'no lists of numbers as [layer][expert] or [iteration][layer][expert]',
    'For example: {"counts": [[12, 3, 0, 9], [4, 8, 6, 6]]}',
  );
