/**
 * CSV in three forms, told apart by the first line: one row per number (`[iteration,]layer,expert,count`), one row per
 * layer (`[iteration,]layer,` and a column per expert), or a bare matrix of layers and experts. Read line by line, once
 * to learn the shape and once for the counts; the rows of an iteration must stand together.
 */
import { NoteCounter } from '../../base/notes.js';
import type { ExpertLoads, LoadStep } from '../../model/expert-load.js';
import { badCount, checkShape, isCount } from './check-counts.js';
import { damaged, type LoadContent, refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';

const MOST_LINE = 4_000_000;

interface Columns {
  readonly iteration?: number;
  readonly layer?: number;
  readonly expert?: number;
  /** First column that holds a count; more follow unless `expert` names it. */
  readonly count: number;
  readonly hasHeader: boolean;
}

export const csvLoads: LoadImporter = {
  id: 'csv',
  label: 'CSV with one row per layer, or per layer and expert',
  recognizes({ headText }) {
    const lines = headText.split(/\r?\n/);
    const [first = ''] = lines;
    if (/^\s*(?:"?(?:iteration|iter|step)"?\s*,\s*)?"?layer"?\s*,/i.test(first)) return true;
    return /^\s*\d+(?:\.0*)?(?:\s*,\s*\d+(?:\.0*)?)+\s*$/.test(first);
  },
  async open(content) {
    const columns = columnsOf(content.headText.split(/\r?\n/)[0]);
    const layers = new Map<number, number>();
    let iterations = 0;
    let experts = 0;
    let last: number | undefined;
    const seen = new Set<number>();
    for await (const { iteration, layer, cells, line } of rows(content, columns)) {
      if (!layers.has(layer)) layers.set(layer, layers.size);
      experts = Math.max(
        experts,
        columns.expert === undefined ? cells.length - columns.count : cells[columns.expert] + 1,
      );
      if (layers.size * experts > 1e7) checkShape(content.name, layers.size, experts);
      if (iteration === last) continue;
      if (seen.has(iteration))
        throw refused(
          content.name,
          `line ${line} returns to iteration ${iteration}`,
          'Rows of one iteration must be adjacent: sort the file by iteration.',
        );
      seen.add(iteration);
      last = iteration;
      iterations++;
    }
    if (iterations === 0) throw damaged(content.name, 'it has no rows');
    checkShape(content.name, layers.size, experts);
    return loads(content, columns, layers, experts, iterations);
  },
};

function columnsOf(first: string): Columns {
  const names = first.split(',').map(cell => cell.trim().replace(/^"|"$/g, '').toLowerCase());
  const at = (...known: string[]) => {
    const found = names.findIndex(name => known.includes(name));
    return found < 0 ? undefined : found;
  };
  const layer = at('layer', 'layer_id', 'layer_idx');
  if (layer === undefined) return { count: 0, hasHeader: false };
  const iteration = at('iteration', 'iter', 'step');
  const expert = at('expert', 'expert_id');
  const count =
    expert === undefined ? Math.max(layer, iteration ?? 0) + 1 : (at('count', 'tokens') ?? names.length - 1);
  return { iteration, layer, expert, count, hasHeader: true };
}

interface Row {
  readonly iteration: number;
  readonly layer: number;
  readonly cells: readonly number[];
  readonly line: number;
}

async function* rows(content: LoadContent, columns: Columns): AsyncGenerator<Row> {
  let line = 0;
  let bare = 0;
  for await (const text of lines(content)) {
    line++;
    if ((line === 1 && columns.hasHeader) || text.trim() === '') continue;
    const cells = text
      .split(',')
      .map(cell => (cell.trim() === '' ? Number.NaN : Number(cell.replace(/^\s*"|"\s*$/g, ''))));
    const whole = (column: number | undefined, what: string, missing: number) => {
      if (column === undefined) return missing;
      if (Number.isSafeInteger(cells[column]) && cells[column] >= 0) return cells[column];
      throw damaged(content.name, `line ${line} has no ${what}`);
    };
    whole(columns.expert, 'expert', 0);
    yield {
      iteration: whole(columns.iteration, 'iteration', 0),
      layer: whole(columns.layer, 'layer', bare++),
      cells,
      line,
    };
  }
}

async function* lines(content: LoadContent): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of content.file.chunks()) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = parts.pop()!;
    if (rest.length > MOST_LINE) throw damaged(content.name, 'it has a line of several megabytes');
    yield* parts;
  }
  if (rest !== '') yield rest;
}

function loads(
  content: LoadContent,
  columns: Columns,
  order: ReadonlyMap<number, number>,
  experts: number,
  iterations: number,
): ExpertLoads {
  const layers = [...order.keys()].sort((a, b) => a - b);
  const place = new Map(layers.map((layer, i) => [layer, i]));
  return {
    kind: 'counts',
    source: { file: content.name, format: csvLoads.id },
    shape: { layers, experts, iterations },
    notes: new NoteCounter(),
    async *steps(): AsyncGenerator<LoadStep> {
      const counts = new Float64Array(layers.length * experts);
      const filled = new Uint8Array(columns.expert === undefined ? layers.length : counts.length);
      let current: number | undefined;
      const put = ({ layer, cells, line }: Row) => {
        const at = place.get(layer)! * experts;
        const slot = columns.expert === undefined ? place.get(layer)! : at + cells[columns.expert];
        if (filled[slot]) throw damaged(content.name, `line ${line} repeats layer ${layer}`);
        filled[slot] = 1;
        const values = columns.expert === undefined ? cells.slice(columns.count) : [cells[columns.count]];
        if (columns.expert === undefined && values.length !== experts)
          throw damaged(content.name, `line ${line} has ${values.length} experts, others have ${experts}`);
        values.forEach((value, i) => {
          const expert = columns.expert === undefined ? i : cells[columns.expert];
          if (!isCount(value)) throw badCount(content.name, value, `line ${line}, expert ${expert}`);
          counts[at + expert] = value;
        });
      };
      for await (const row of rows(content, columns)) {
        if (current !== undefined && row.iteration !== current) {
          checkComplete(content.name, filled, columns, current);
          yield { iteration: current, counts };
          counts.fill(0);
          filled.fill(0);
        }
        current = row.iteration;
        put(row);
      }
      checkComplete(content.name, filled, columns, current!);
      yield { iteration: current!, counts };
    },
    close: () => content.close(),
  };
}

/** Rows per layer are all there or the file is cut; rows per expert may leave out those that got nothing. */
function checkComplete(name: string, filled: Uint8Array, { expert }: Columns, iteration: number): void {
  if (expert !== undefined || !filled.includes(0)) return;
  const missing = filled.reduce((sum, value) => sum + (value ? 0 : 1), 0);
  throw damaged(name, `iteration ${iteration} is missing ${missing} of ${filled.length} layers`);
}
