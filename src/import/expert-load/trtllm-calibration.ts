/**
 * The calibration file of TensorRT-LLM's layer-wise benchmarks (mode COLLECT; tools/layer_wise_benchmarks/calibrator.py):
 * per rank and iteration the slots each token chose, as base64 of zlib of int32. Slots are experts unless a load balancer
 * gave experts several; then balance is of slots, which is what the GPUs saw.
 */
import { inflateSync } from 'node:zlib';
import { isJsonObject } from '../../base/json/json-object.js';
import { NoteCounter } from '../../base/notes.js';
import type { LoadStep } from '../../model/expert-load.js';
import { checkShape } from './check-counts.js';
import { wholeAt } from './json-value.js';
import { damaged, type LoadContent, refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';

interface Piece {
  readonly layer: number;
  readonly slots: number;
  readonly tokens: number;
  readonly topK: number;
}

interface CalibrationRecord {
  readonly iteration: number;
  readonly pieces: readonly Piece[];
  readonly packed: string;
}

export const trtllmCalibration: LoadImporter = {
  id: 'trtllm-calibration',
  label: 'calibration file of TensorRT-LLM layer-wise benchmarks',
  recognizes: ({ headText }) => /^\s*\{/.test(headText) && /"all_ranks_records"\s*:/.test(headText),
  async open(content) {
    const document = await content.json();
    const ranks = isJsonObject(document) ? document.all_ranks_records : undefined;
    if (!Array.isArray(ranks) || !ranks.every(Array.isArray))
      throw refused(
        content.name,
        'it has no list of records per rank',
        'Collect it again: calibration_mode COLLECT.',
      );
    const records = ranks.flatMap((own, rank) =>
      (own as unknown[]).map(value => recordOf(content, value, rank)),
    );
    const pieces = records.flatMap(record => record.pieces);
    const layers = [...new Set(pieces.map(({ layer }) => layer))].sort((a, b) => a - b);
    const slots = new Set(pieces.map(piece => piece.slots));
    const topKs = new Set(pieces.map(piece => piece.topK));
    if (slots.size !== 1)
      throw refused(
        content.name,
        `layers with ${[...slots].join(' and ')} slots`,
        'All layers need the same number of slots.',
      );
    const [experts] = slots;
    checkShape(content.name, layers.length, experts);
    const iterations = [...new Set(records.map(record => record.iteration))].sort((a, b) => a - b);
    return {
      kind: 'counts',
      source: { file: content.name, format: trtllmCalibration.id },
      shape: {
        layers,
        experts,
        iterations: iterations.length,
        ranks: ranks.length,
        ...(topKs.size === 1 ? { topK: [...topKs][0] } : {}),
      },
      notes: new NoteCounter(),
      steps: () => steps(content, records, iterations, layers, experts),
      close: () => content.close(),
    };
  },
};

function recordOf(content: LoadContent, value: unknown, rank: number): CalibrationRecord {
  const iteration = wholeAt(value, 'iteration');
  const { metadata, raw_data: packed } = isJsonObject(value) ? value : ({} as Record<string, unknown>);
  if (iteration === undefined || !Array.isArray(metadata) || typeof packed !== 'string')
    throw damaged(content.name, `a record of rank ${rank} has no iteration, metadata or raw_data`);
  const pieces = metadata.map((entry): Piece => {
    const layer = wholeAt(entry, 'layer_idx');
    const slots = wholeAt(entry, 'num_slots');
    const shape = isJsonObject(entry) ? entry.token_selected_slots_shape : undefined;
    const [tokens, topK] = Array.isArray(shape) ? shape : [];
    const isSound = [layer, slots, tokens, topK].every(n => Number.isSafeInteger(n) && (n as number) >= 0);
    if (!isSound || (shape as unknown[]).length !== 2)
      throw damaged(content.name, `metadata of iteration ${iteration}, rank ${rank} is incomplete`);
    return { layer: layer!, slots: slots!, tokens, topK };
  });
  return { iteration, pieces, packed };
}

function* steps(
  content: LoadContent,
  records: readonly CalibrationRecord[],
  iterations: readonly number[],
  layers: readonly number[],
  experts: number,
): Generator<LoadStep> {
  const place = new Map(layers.map((layer, i) => [layer, i]));
  const counts = new Float64Array(layers.length * experts);
  for (const iteration of iterations) {
    counts.fill(0);
    for (const record of records) {
      if (record.iteration !== iteration) continue;
      const ids = unpack(content, record);
      let at = 0;
      for (const { layer, tokens, topK } of record.pieces) {
        const row = place.get(layer)! * experts;
        for (const end = at + tokens * topK; at < end; at++) {
          const id = ids[at];
          // A slot of −1 is padding.
          if (id === -1) continue;
          if (id < 0 || id >= experts)
            throw damaged(
              content.name,
              `iteration ${iteration}, layer ${layer} names slot ${id} of ${experts}`,
            );
          counts[row + id]++;
        }
      }
    }
    yield { iteration, counts };
  }
}

function unpack(content: LoadContent, { iteration, pieces, packed }: CalibrationRecord): Int32Array {
  const wanted = 4 * pieces.reduce((sum, { tokens, topK }) => sum + tokens * topK, 0);
  try {
    // One byte more than announced is enough to know that it is too much.
    const bytes = inflateSync(Buffer.from(packed, 'base64'), { maxOutputLength: wanted + 1 });
    if (bytes.length === wanted) return new Int32Array(new Uint8Array(bytes).buffer);
  } catch {
    // Said below.
  }
  throw damaged(
    content.name,
    `raw_data of iteration ${iteration} does not unpack to the ${wanted} bytes of its metadata`,
  );
}
