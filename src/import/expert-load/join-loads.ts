/** Several files of one run: those of different ranks are added up pass by pass, others follow each other. */
import { NoteCounter } from '../../base/notes.js';
import { UserError } from '../../base/user-error.js';
import type { ExpertLoads, LoadFile, LoadStep } from '../../model/expert-load.js';

export function joinLoads(files: readonly LoadFile[]): LoadFile {
  if (files.length === 1) return files[0];
  const counted = files.filter((file): file is ExpertLoads => file.kind === 'counts');
  if (counted.length !== files.length)
    throw new UserError('usage', 'A balance log cannot be combined with other files.', 'Give only the log.');
  const [first] = counted;
  for (const { source, shape } of counted)
    if (shape.experts !== first.shape.experts || shape.layers.join() !== first.shape.layers.join())
      throw new UserError(
        'usage',
        `${source.file} has ${shape.layers.length} layers with ${shape.experts} experts, but ${first.source.file} has ${first.shape.layers.length} with ${first.shape.experts}.`,
        'Files given together must come from one run.',
      );
  const ranks = counted.map(({ rank }) => rank);
  const byRank = ranks.every(rank => rank !== undefined) && new Set(ranks).size === ranks.length;
  const notes = new NoteCounter();
  for (const file of counted) notes.addAll(file.notes);
  const lengths = counted.map(({ shape }) => shape.iterations);
  const total = lengths.every(length => length !== undefined)
    ? lengths.reduce((sum, length) => sum + length, 0)
    : undefined;
  return {
    kind: 'counts',
    source: { file: `${first.source.file} and ${counted.length - 1} more`, format: first.source.format },
    shape: {
      ...first.shape,
      ...(byRank ? { ranks: counted.length } : {}),
      ...(byRank ? {} : { iterations: total }),
    },
    notes,
    steps: () => (byRank ? added(counted, notes) : inTurn(counted)),
    close() {
      for (const file of counted) file.close();
    },
  };
}

async function* inTurn(files: readonly ExpertLoads[]): AsyncGenerator<LoadStep> {
  for (const file of files) yield* file.steps();
}

/** In lock step by number of the pass; a pass some rank did not record is of the others. */
async function* added(files: readonly ExpertLoads[], notes: NoteCounter): AsyncGenerator<LoadStep> {
  const readers = files.map(file => asAsync(file.steps()));
  const heads = await Promise.all(readers.map(reader => reader.next()));
  const sum = new Float64Array(files[0].shape.layers.length * files[0].shape.experts);
  while (true) {
    const open = heads.flatMap(head => (head.done ? [] : [head.value.iteration]));
    if (open.length === 0) return;
    const iteration = Math.min(...open);
    sum.fill(0);
    let phase: LoadStep['phase'];
    for (const [i, head] of heads.entries()) {
      if (head.done || head.value.iteration !== iteration) {
        notes.add('missing-rank', 'loss', 'passes were not recorded on every rank', `pass ${iteration}`);
        continue;
      }
      phase ??= head.value.phase;
      for (let j = 0; j < sum.length; j++) sum[j] += head.value.counts[j];
      heads[i] = await readers[i].next();
    }
    yield { iteration, counts: sum, ...(phase ? { phase } : {}) };
  }
}

async function* asAsync(steps: AsyncIterable<LoadStep> | Iterable<LoadStep>): AsyncGenerator<LoadStep> {
  yield* steps;
}
