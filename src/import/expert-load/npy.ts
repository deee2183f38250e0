/**
 * NumPy arrays: counts as [layer, expert] or [iteration, layer, expert], or the ids a router chose as [token, k] or
 * [layer, token, k]. Read in blocks of whole iterations; the file may be larger than memory.
 */
import type { ByteSource } from '../../base/byte-source.js';
import { NoteCounter } from '../../base/notes.js';
import type { ExpertLoads, LoadStep } from '../../model/expert-load.js';
import { badCount, checkShape } from './check-counts.js';
import { chooseMeaning } from './counts-or-ids.js';
import { damaged, type LoadContent, refused } from './load-content.js';
import type { LoadImporter, LoadOptions } from './load-importer.js';
import { checkNpySize, type NpyHeader, readNpyHeader } from './npy-header.js';
import { decoderOf } from './npy-numbers.js';
import { oneStep } from './one-step.js';
import { IdCounter } from './routed-ids.js';

const BLOCK_BYTES = 4 * 1024 * 1024;
/** Rows looked at to tell counts from ids. */
const LOOKED_AT = 512;

export const npy: LoadImporter = {
  id: 'npy',
  label: 'NumPy array of counts or of chosen experts',
  recognizes: content => content.begins(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59),
  async open(content, options) {
    const source = await content.file.randomAccess();
    if (content.file.unpackingFailed) throw damaged(content.name, 'the archive is truncated or damaged');
    const header = readNpyHeader(content.name, source);
    const { shape } = header;
    if (shape.length !== 2 && shape.length !== 3)
      throw refused(
        content.name,
        `an array of ${shape.length} dimensions (${shape.join(' × ')})`,
        'The order is [layer, expert] or [iteration, layer, expert] for counts, [token, k] or [layer, token, k] for chosen experts.',
      );
    checkNpySize(content.name, header, source.size);
    const meaning = chooseMeaning(
      content.name,
      shape,
      () => firstRows(content.name, source, header),
      options.as,
    );
    return meaning === 'ids' ? countIds(content, source, header, options) : countsOf(content, source, header);
  },
};

/** Counts whose shape is known to be [iteration, layer, expert] or [layer, expert]. */
export async function npyCounts(content: LoadContent): Promise<ExpertLoads> {
  try {
    const loads = await npy.open(content, { as: 'counts' });
    return loads as ExpertLoads;
  } catch (error) {
    content.close();
    throw error;
  }
}

function countsOf(content: LoadContent, source: ByteSource, header: NpyHeader): ExpertLoads {
  const [iterations, layers, experts] = header.shape.length === 3 ? header.shape : [1, ...header.shape];
  checkShape(content.name, layers, experts);
  if (iterations === 0) throw refused(content.name, 'no iterations', 'Record at least one.');
  const perStep = layers * experts;
  return {
    kind: 'counts',
    source: { file: content.name, format: npy.id },
    shape: { layers: Array.from({ length: layers }, (_, i) => i), experts, iterations },
    notes: new NoteCounter(),
    *steps(): Iterable<LoadStep> {
      const counts = new Float64Array(perStep);
      let iteration = 0;
      for (const { bytes, steps } of blocks(content.name, source, header, perStep)) {
        const decode = decoderOf(header.type);
        for (let i = 0; i < steps; i++) {
          const from = i * perStep * header.itemBytes;
          const own = aligned(bytes, from, perStep * header.itemBytes);
          const bad = decode(own, perStep, counts);
          if (bad >= 0)
            throw badCount(
              content.name,
              counts[bad],
              `iteration ${iteration}, layer ${Math.floor(bad / experts)}, expert ${bad % experts}`,
            );
          yield { iteration: iteration++, counts };
        }
      }
    },
    close: () => content.close(),
  };
}

/** Blocks of whole rows of `perRow` numbers; the buffer is used again. */
function* blocks(
  name: string,
  source: ByteSource,
  { offset, itemBytes }: NpyHeader,
  perRow: number,
): Generator<{ bytes: Uint8Array; steps: number }> {
  const rowBytes = perRow * itemBytes;
  const rows = (source.size - offset) / rowBytes;
  const perBlock = Math.max(1, Math.floor(BLOCK_BYTES / rowBytes));
  const buffer = new Uint8Array(Math.min(perBlock, rows) * rowBytes);
  for (let row = 0; row < rows; row += perBlock) {
    const steps = Math.min(perBlock, rows - row);
    const bytes = buffer.subarray(0, steps * rowBytes);
    if (source.read(bytes, offset + row * rowBytes) < bytes.length)
      throw damaged(name, 'it was truncated while being read');
    yield { bytes, steps };
  }
}

/** A view needs its numbers to begin at a multiple of their size; odd rows of small ones do not. */
function aligned(bytes: Uint8Array, from: number, length: number): Uint8Array {
  const part = bytes.subarray(from, from + length);
  return part.byteOffset % 8 === 0 ? part : part.slice();
}

function firstRows(name: string, source: ByteSource, header: NpyHeader): number[][] {
  const width = header.shape[header.shape.length - 1];
  const total = header.shape.reduce((product, length) => product * length, 1);
  const rows = width > 0 ? Math.min(LOOKED_AT, total / width) : 0;
  const bytes = new Uint8Array(rows * width * header.itemBytes);
  if (source.read(bytes, header.offset) < bytes.length) throw damaged(name, 'it is truncated');
  const values = new Float64Array(rows * width);
  decoderOf(header.type)(bytes, values.length, values);
  return Array.from({ length: rows }, (_, row) => [...values.subarray(row * width, (row + 1) * width)]);
}

function countIds(
  content: LoadContent,
  source: ByteSource,
  header: NpyHeader,
  options: LoadOptions,
): ExpertLoads {
  const [layers, tokens, topK] = header.shape.length === 3 ? header.shape : [1, ...header.shape];
  const ids = new IdCounter(content.name, layers, topK, options.experts);
  const decode = decoderOf(header.type);
  const perRow = topK;
  let row = 0;
  const rowNumbers = new Float64Array(Math.max(1, Math.floor(BLOCK_BYTES / header.itemBytes)) + perRow);
  for (const { bytes, steps } of blocks(content.name, source, header, perRow)) {
    decode(aligned(bytes, 0, bytes.length), steps * perRow, rowNumbers);
    for (let i = 0; i < steps; i++, row++) ids.add(Math.floor(row / tokens), rowNumbers, i * perRow);
  }
  const { counts, experts } = ids.finish();
  const shape = { layers: Array.from({ length: layers }, (_, i) => i), experts, topK };
  return oneStep(content, npy.id, shape, counts, ids.notes);
}
