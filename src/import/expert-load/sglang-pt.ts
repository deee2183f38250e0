/**
 * What SGLang's expert distribution recorder dumps with torch.save (srt/eplb/expert_distribution.py): `logical_count`
 * [step, layer, expert] in mode stat, or `records`, one per forward pass and rank, with counts of physical experts and
 * the map from those to logical ones in modes per_pass and per_token.
 */
import type { ByteSource } from '../../base/byte-source.js';
import { NoteCounter } from '../../base/notes.js';
import type { ExpertLoads, LoadStep } from '../../model/expert-load.js';
import { badCount, checkShape } from './check-counts.js';
import { damaged, type LoadContent, refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';
import { decoderOf } from './npy-numbers.js';
import { readStoredZip, type ZipEntry } from './stored-zip.js';
import { isTensor, type Pickled, type PickledTensor, readTorchPickle } from './torch-pickle.js';

const MOST_PICKLE_BYTES = 256 * 1024 * 1024;
const TYPES: Readonly<Record<string, string>> = {
  LongStorage: 'i8',
  IntStorage: 'i4',
  ShortStorage: 'i2',
  CharStorage: 'i1',
  ByteStorage: 'u1',
  FloatStorage: 'f4',
  DoubleStorage: 'f8',
};

export const sglangPt: LoadImporter = {
  id: 'sglang-pt',
  label: 'dump of the SGLang expert distribution recorder (.pt)',
  recognizes: content => content.begins(0x50, 0x4b, 0x03, 0x04),
  async open(content) {
    const source = await content.file.randomAccess();
    const entries = readStoredZip(content.name, source);
    const pickle = [...entries.keys()].find(entry => /(?:^|\/)data\.pkl$/.test(entry));
    const entry = pickle === undefined ? undefined : entries.get(pickle)!;
    if (!entry || entry.bytes > MOST_PICKLE_BYTES)
      throw refused(content.name, 'an archive that torch.save did not write', convert);
    const bytes = new Uint8Array(entry.bytes);
    source.read(bytes, entry.from);
    const root = readTorchPickle(content.name, bytes);
    const tensors = new Tensors(content.name, source, entries, pickle!.replace(/data\.pkl$/, 'data/'));
    if (root instanceof Map && isTensor(root.get('logical_count')))
      return logical(content, tensors, root.get('logical_count') as PickledTensor);
    if (root instanceof Map && Array.isArray(root.get('records')))
      return records(
        content,
        tensors,
        root.get('records') as Pickled[],
        root.get('last_physical_to_logical_map'),
      );
    throw refused(content.name, 'it contains neither logical_count nor records', convert);
  },
};

const convert =
  "Convert it: python3 -c \"import torch,numpy; numpy.save('loads.npy', torch.load('FILE.pt')['logical_count'].cpu().numpy())\"";

class Tensors {
  constructor(
    private readonly name: string,
    private readonly source: ByteSource,
    private readonly entries: ReadonlyMap<string, ZipEntry>,
    private readonly folder: string,
  ) {}

  /** `count` numbers of a tensor from its `first`th on; its rows must lie one after the other. */
  read(tensor: PickledTensor, first: number, count: number, into: Float64Array): number {
    const type = TYPES[tensor.type];
    const itemBytes = Number(type[1]);
    const entry = this.entries.get(`${this.folder}${tensor.storage}`);
    let expected = 1;
    for (let i = tensor.shape.length - 1; i >= 0; i--) {
      if (tensor.shape[i] > 1 && tensor.stride[i] !== expected)
        throw refused(this.name, 'a tensor that is not contiguous', 'Call .contiguous() before torch.save.');
      expected *= tensor.shape[i];
    }
    const from = (tensor.offset + first) * itemBytes;
    if (!entry || from + count * itemBytes > entry.bytes)
      throw damaged(this.name, 'a tensor extends beyond its storage');
    const bytes = new Uint8Array(count * itemBytes);
    this.source.read(bytes, entry.from + from);
    return decoderOf(type)(bytes, count, into);
  }

  whole(tensor: PickledTensor): Float64Array {
    const count = tensor.shape.reduce((product, n) => product * n, 1);
    if (count > 5e7) throw damaged(this.name, 'a tensor is too large');
    const values = new Float64Array(count);
    this.read(tensor, 0, count, values);
    return values;
  }
}

function logical(content: LoadContent, tensors: Tensors, tensor: PickledTensor): ExpertLoads {
  const { shape } = tensor;
  if (shape.length !== 2 && shape.length !== 3)
    throw refused(content.name, `logical_count with ${shape.length} dimensions`, convert);
  const [iterations, layers, experts] = shape.length === 3 ? shape : [1, ...shape];
  checkShape(content.name, layers, experts);
  const perStep = layers * experts;
  return {
    kind: 'counts',
    source: { file: content.name, format: sglangPt.id },
    shape: { layers: numbered(layers), experts, iterations },
    notes: new NoteCounter(),
    *steps(): Generator<LoadStep> {
      const counts = new Float64Array(perStep);
      for (let iteration = 0; iteration < iterations; iteration++) {
        const bad = tensors.read(tensor, iteration * perStep, perStep, counts);
        if (bad >= 0)
          throw badCount(
            content.name,
            counts[bad],
            `iteration ${iteration}, layer ${Math.floor(bad / experts)}, expert ${bad % experts}`,
          );
        yield { iteration, counts };
      }
    },
    close: () => content.close(),
  };
}

function records(
  content: LoadContent,
  tensors: Tensors,
  list: readonly Pickled[],
  map: Pickled | undefined,
): ExpertLoads {
  const passes = list.flatMap(record => {
    const physical = record instanceof Map ? record.get('global_physical_count') : undefined;
    const id = record instanceof Map ? record.get('forward_pass_id') : undefined;
    return isTensor(physical) && physical.shape.length === 2 && typeof id === 'number'
      ? [
          {
            id,
            physical,
            rank: (record as Map<Pickled, Pickled>).get('rank'),
            extends: (record as Map<Pickled, Pickled>).get('extend_seq_lens'),
          },
        ]
      : [];
  });
  if (passes.length === 0) throw refused(content.name, 'records without global_physical_count', convert);
  const [layers, places] = passes[0].physical.shape;
  const expertOf =
    isTensor(map) && map.shape.join() === `${layers},${places}` ? tensors.whole(map) : undefined;
  const wrong = expertOf?.findIndex(id => !Number.isInteger(id) || id < 0 || id >= places) ?? -1;
  if (expertOf && wrong >= 0)
    throw damaged(
      content.name,
      `the physical expert map puts expert ${expertOf[wrong]} in slot ${wrong % places} of layer ${Math.floor(wrong / places)}`,
    );
  const experts = expertOf ? expertOf.reduce((most, id) => Math.max(most, id + 1), 0) : places;
  checkShape(content.name, layers, experts);
  const notes = new NoteCounter();
  if (!expertOf)
    notes.add('physical', 'warning', 'the physical expert map is missing: slots are treated as experts');
  const rank = passes[0].rank;
  return {
    kind: 'counts',
    source: { file: content.name, format: sglangPt.id },
    shape: { layers: numbered(layers), experts, iterations: passes.length },
    ...(typeof rank === 'number' ? { rank } : {}),
    notes,
    *steps(): Generator<LoadStep> {
      const counts = new Float64Array(layers * experts);
      const own = new Float64Array(layers * places);
      for (const { id, physical, extends: lengths } of passes) {
        if (physical.shape.join() !== `${layers},${places}`)
          throw damaged(content.name, `pass ${id} has a different shape`);
        const bad = tensors.read(physical, 0, own.length, own);
        if (bad >= 0)
          throw badCount(
            content.name,
            own[bad],
            `pass ${id}, layer ${Math.floor(bad / places)}, slot ${bad % places}`,
          );
        counts.fill(0);
        for (let i = 0; i < own.length; i++)
          counts[Math.floor(i / places) * experts + (expertOf ? expertOf[i] : i % places)] += own[i];
        // Passes in prefill name the lengths they add; recorded in mode per_token only.
        const phase =
          lengths === undefined
            ? {}
            : {
                phase:
                  Array.isArray(lengths) && lengths.length > 0 ? ('prefill' as const) : ('decode' as const),
              };
        yield { iteration: id, ...phase, counts };
      }
    },
    close: () => content.close(),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => i);
