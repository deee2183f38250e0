/**
 * What TensorRT-LLM writes with EXPERT_STATISTIC_ITER_RANGE (tensorrt_llm/_torch/expert_statistic.py): a folder of
 * `meta_info.json` and `rank*.safetensors`, a tensor `{iteration}_{layer}` per rank with one int64 per expert. Each rank
 * counts the tokens it routed, so ranks are added up; without attention data parallelism all ranks count the same
 * tokens, which changes every count by the same factor and no balance.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { ByteSource } from '../../base/byte-source.js';
import { NoteCounter } from '../../base/notes.js';
import type { LoadStep } from '../../model/expert-load.js';
import { ProfileFile } from '../profile-file.js';
import { badCount, checkShape } from './check-counts.js';
import { wholeAt } from './json-value.js';
import { damaged, refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';
import { decoderOf } from './npy-numbers.js';
import { npyType, readSafetensors, type Tensor } from './safetensors.js';

const RANK_FILE = /^rank(\d{1,5})\.safetensors$/;

interface RankFile {
  readonly name: string;
  readonly file: ProfileFile;
  readonly source: ByteSource;
  readonly tensors: ReadonlyMap<string, Tensor>;
}

export const trtllmStatistic: LoadImporter = {
  id: 'trtllm-expert-statistic',
  label: 'folder of TensorRT-LLM (EXPERT_STATISTIC_PATH)',
  recognizes: ({ folder }) =>
    folder?.includes('meta_info.json') === true && folder.some(name => RANK_FILE.test(name)),
  async open(content) {
    const meta = readMeta(content.path);
    const experts = wholeAt(meta, 'num_experts');
    const topK = wholeAt(meta, 'num_experts_per_token');
    if (experts === undefined)
      throw refused(content.name, 'meta_info.json does not contain num_experts', 'Copy the folder again.');
    const ranks: RankFile[] = [];
    const close = () => {
      for (const { file } of ranks) file.close();
    };
    try {
      for (const name of content.folder!.filter(entry => RANK_FILE.test(entry))) {
        const file = ProfileFile.open(path.join(content.path, name), `${content.name}/${name}`);
        // In the list before its header is read: a bad header must not leave it open.
        const source = await file.randomAccess();
        ranks.push({ name: file.name, file, source, tensors: new Map() });
        ranks[ranks.length - 1] = { ...ranks[ranks.length - 1], tensors: readSafetensors(file.name, source) };
      }
      const notes = new NoteCounter();
      const { iterations, layers } = keysOf(ranks, notes);
      if (layers.length === 0)
        throw refused(
          content.name,
          'no tensor is named ITERATION_LAYER',
          'Set EXPERT_STATISTIC_ITER_RANGE=A-B and run past iteration B.',
        );
      checkShape(content.name, layers.length, experts);
      return {
        kind: 'counts',
        source: { file: content.name, format: trtllmStatistic.id },
        shape: { layers, experts, iterations: iterations.length, topK, ranks: ranks.length },
        notes,
        steps: () => steps(ranks, iterations, layers, experts, notes),
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  },
};

function readMeta(folder: string): unknown {
  const file = path.join(folder, 'meta_info.json');
  const stat = fs.statSync(file);
  if (!stat.isFile() || stat.size > 1e6) throw damaged('meta_info.json', 'it is too large, or not a file');
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    throw damaged('meta_info.json', 'it is not JSON');
  }
}

function keysOf(ranks: readonly RankFile[], notes: NoteCounter): { iterations: number[]; layers: number[] } {
  const iterations = new Set<number>();
  const layers = new Set<number>();
  for (const { tensors } of ranks)
    for (const key of tensors.keys()) {
      const match = /^(\d{1,9})_(\d{1,5})$/.exec(key);
      if (match) {
        iterations.add(Number(match[1]));
        layers.add(Number(match[2]));
      } else notes.add('other-tensor', 'info', 'tensors not named ITERATION_LAYER were left out', key);
    }
  const order = (a: number, b: number) => a - b;
  return { iterations: [...iterations].sort(order), layers: [...layers].sort(order) };
}

function* steps(
  ranks: readonly RankFile[],
  iterations: readonly number[],
  layers: readonly number[],
  experts: number,
  notes: NoteCounter,
): Generator<LoadStep> {
  const counts = new Float64Array(layers.length * experts);
  const own = new Float64Array(experts);
  const bytes = new Uint8Array(experts * 8);
  for (const iteration of iterations) {
    counts.fill(0);
    layers.forEach((layer, l) => {
      for (const { name, source, tensors } of ranks) {
        const tensor = tensors.get(`${iteration}_${layer}`);
        if (!tensor) {
          notes.add(
            'missing-part',
            'loss',
            'layers are missing for some rank in some iteration',
            `${name}, ${iteration}_${layer}`,
          );
          continue;
        }
        const type = npyType(tensor.dtype);
        if (type === undefined || tensor.shape.length !== 1 || tensor.shape[0] !== experts)
          throw damaged(
            name,
            `${iteration}_${layer} contains ${tensor.shape.join(' × ')} of ${tensor.dtype}, not ${experts} counts`,
          );
        const part = bytes.subarray(0, tensor.to - tensor.from);
        if (source.read(part, tensor.from) < part.length) throw damaged(name, 'it is truncated');
        const bad = decoderOf(type)(part, experts, own);
        if (bad >= 0) throw badCount(name, own[bad], `iteration ${iteration}, layer ${layer}, expert ${bad}`);
        for (let e = 0; e < experts; e++) counts[l * experts + e] += own[e];
      }
    });
    yield { iteration, counts };
  }
}
