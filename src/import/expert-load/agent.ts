/**
 * Counts of Stepscope's own agent: a JSON head that names rank, iterations and layers, with the counts in it or, when
 * they are many, in a NumPy file [iteration, layer, expert] beside it. One file per rank; ranks are added up.
 */
import * as path from 'node:path';
import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { NoteCounter } from '../../base/notes.js';
import type { ExpertLoads, LoadStep } from '../../model/expert-load.js';
import { checkShape, flattenCounts } from './check-counts.js';
import { wholeAt } from './json-value.js';
import { damaged, LoadContent, refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';
import { npyCounts } from './npy.js';
import { heldSteps } from './one-step.js';

const AGENT_KEY = '"stepscopeExpertLoad"';

export const agent: LoadImporter = {
  id: 'stepscope-agent',
  label: 'counts from the Stepscope agent',
  recognizes: ({ headText }) => /^\s*\{/.test(headText) && headText.includes(AGENT_KEY),
  async open(content) {
    const head = await content.json();
    if (!isJsonObject(head) || head.stepscopeExpertLoad !== 1)
      throw refused(content.name, 'the version of the agent file is not supported', 'Update Stepscope.');
    const { layers, numbers, experts, topK } = shapeOf(content.name, head);
    const iterations = Array.isArray(head.iterations) ? head.iterations : [];
    if (!iterations.every(n => Number.isSafeInteger(n) && n >= 0))
      throw damaged(content.name, 'its list of iterations contains values that are not numbers');
    const notes = new NoteCounter();
    const left = wholeAt(head, 'iterationsLeftOut') ?? 0;
    if (left > 0)
      notes.add(
        'left-out',
        'loss',
        'iterations were not kept by the agent because its memory was full',
        '',
        left,
      );
    const rank = wholeAt(head, 'rank');
    const common = { layers: numbers, experts, ...(topK === undefined ? {} : { topK }) };
    if (typeof head.countsFile === 'string') {
      // A name, never a path: what stands in a file does not choose what is opened.
      const beside = path.join(path.dirname(content.path), path.basename(head.countsFile));
      const loads = await npyCounts(await LoadContent.open(beside));
      content.close();
      if (
        loads.shape.layers.length !== layers ||
        loads.shape.experts !== experts ||
        loads.shape.iterations !== iterations.length
      )
        throw damaged(content.name, `${path.basename(beside)} does not have the shape that it declares`);
      return named(
        loads,
        iterations as number[],
        { ...common, iterations: iterations.length },
        content.name,
        notes,
        rank,
      );
    }
    const counts = head.counts;
    if (!Array.isArray(counts) || counts.length !== iterations.length)
      throw damaged(
        content.name,
        `it has ${Array.isArray(counts) ? counts.length : 'no'} count blocks for ${iterations.length} iterations`,
      );
    const steps = counts.map((rows: unknown, i) => {
      if (!Array.isArray(rows) || rows.length !== layers)
        throw damaged(content.name, `iteration ${iterations[i]} does not have ${layers} layers`);
      const flat = new Float64Array(layers * experts);
      flattenCounts(content.name, rows, experts, `iteration ${iterations[i]}, `, flat);
      return { iteration: iterations[i] as number, counts: flat };
    });
    return heldSteps(content, agent.id, common, steps, notes, rank);
  },
};

function shapeOf(name: string, head: JsonObject) {
  const experts = wholeAt(head, 'experts') ?? 0;
  const list = Array.isArray(head.layers) ? head.layers : [];
  checkShape(name, list.length, experts);
  const named = list.map((layer, i) => wholeAt(layer, 'index') ?? i);
  // Two routers of one layer: their places tell them apart.
  const numbers = new Set(named).size === named.length ? named : named.map((_, i) => i);
  const topKs = new Set(list.map(layer => wholeAt(layer, 'topK')));
  const [topK] = topKs.size === 1 ? topKs : [undefined];
  return { layers: list.length, numbers, experts, topK };
}

function named(
  loads: ExpertLoads,
  iterations: readonly number[],
  shape: ExpertLoads['shape'],
  file: string,
  notes: NoteCounter,
  rank: number | undefined,
): ExpertLoads {
  return {
    ...loads,
    source: { file, format: agent.id },
    shape,
    ...(rank === undefined ? {} : { rank }),
    notes,
    async *steps(): AsyncGenerator<LoadStep> {
      let i = 0;
      for await (const step of loads.steps()) yield { ...step, iteration: iterations[i++] };
    },
  };
}
