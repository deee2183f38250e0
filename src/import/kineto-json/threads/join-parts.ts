/**
 * Puts the parts of several threads together as if one thread had read the file: piece after piece in the order of
 * the file, everything gets the number it would have got there. What is new in a piece for the whole file is also new
 * for the thread that read it, because each thread goes from front to end; so the marks after each piece suffice.
 */
import type { AnyArray } from '../../../base/column.js';
import type { GrowingColumn } from '../../../base/growing-column.js';
import type { PackedStrings } from '../../../base/string-table.js';
import type { ProfileBuilder } from '../../../model/builder.js';
import { columnsOf } from '../../../model/schema.js';
import { Categories } from '../events/categories.js';
import { MEMORY_NAME } from '../events/event-store.js';
import { isLabel, Labels, renumberLabel } from '../events/labels.js';
import { Lanes } from '../events/lanes.js';
import type { ReadTrace } from '../events/read-trace.js';
import { MAX_DETAIL_BYTES } from '../events/text-store.js';
import { TraceNames } from '../events/trace-names.js';
import { type KinetoTable, kinetoTables, TraceRows } from '../events/trace-rows.js';
import type { Part, PieceMark } from './part-reader.js';

/** What the numbers of a part became. */
interface Renumbered {
  readonly part: Part;
  readonly strings: Int32Array;
  readonly labels: Int32Array;
  readonly categories: Int32Array;
  readonly places: Int32Array;
  readonly streams: Int32Array;
}

interface Piece extends Renumbered {
  readonly mark: PieceMark;
  /** What the thread had seen before this piece. */
  readonly before: PieceMark;
}

const nothing: PieceMark = {
  piece: -1,
  strings: 0,
  labels: 0,
  categories: 0,
  places: 0,
  streams: 0,
  notes: 0,
  rows: kinetoTables.map(() => 0),
};

/** Undefined where only one thread can say what it would have found: limits that count over the whole file. */
export function joinParts(
  parts: readonly Part[],
  builder: ProfileBuilder,
  originMicros: number,
): ReadTrace | undefined {
  const details = parts.reduce((sum, part) => sum + part.detailBytes, 0);
  if (details >= MAX_DETAIL_BYTES || parts.some(hasNamedStreams)) return undefined;
  const labels = new Labels();
  const categories = new Categories();
  const lanes = new Lanes();
  const names = new TraceNames(labels);
  builder.strings.intern(MEMORY_NAME);
  const renumbered = parts.map(emptyNumbers);
  const pieces = inFileOrder(renumbered);
  for (const piece of pieces) renumberPiece(piece, builder, labels, categories, lanes);
  if (categories.full || labels.ambiguous) return undefined;
  for (const numbers of renumbered) addUp(numbers, builder, categories, lanes, names);
  const recordings = parts.flatMap(part => part.recording ?? []).sort((a, b) => a.piece - b.piece);
  const recording = recordings.at(-1);
  return {
    categories,
    lanes,
    names,
    rows: joinRows(renumbered, pieces),
    events: parts.reduce((sum, part) => sum + part.events, 0),
    originMicros,
    recordingStart: recording?.start ?? Number.NaN,
    recordingEnd: recording?.end ?? Number.NaN,
  };
}

/** A word as the number of a GPU or stream could also be an argument's number: only its reader knew. */
function hasNamedStreams({ lanes, labels }: Part): boolean {
  const words = labels.ends.length;
  return lanes.streams.some(parts => parts.slice(1).some(number => isLabel(number, words)));
}

function emptyNumbers(part: Part): Renumbered {
  return {
    part,
    strings: new Int32Array(part.strings.ends.length),
    labels: new Int32Array(part.labels.ends.length),
    categories: new Int32Array(part.categories.names.ends.length),
    places: new Int32Array(part.lanes.places.length),
    streams: new Int32Array(part.lanes.streams.length),
  };
}

function inFileOrder(parts: readonly Renumbered[]): Piece[] {
  const pieces = parts.flatMap(numbers =>
    numbers.part.marks.map((mark, i, marks) => ({ ...numbers, mark, before: marks[i - 1] ?? nothing })),
  );
  return pieces.sort((a, b) => a.mark.piece - b.mark.piece);
}

function renumberPiece(
  piece: Piece,
  builder: ProfileBuilder,
  labels: Labels,
  categories: Categories,
  lanes: Lanes,
): void {
  const { part, mark, before } = piece;
  const label = (number: number) => renumberLabel(number, piece.labels);
  eachText(part.strings, before.strings, mark.strings, (id, bytes, from, to) => {
    piece.strings[id] = builder.strings.internBytes(bytes, from, to);
  });
  eachText(part.labels, before.labels, mark.labels, (word, bytes, from, to) => {
    piece.labels[word] = labels.add(bytes, from, to);
  });
  eachText(part.categories.names, before.categories, mark.categories, (id, bytes, from, to) => {
    piece.categories[id] = categories.add(bytes, from, to);
  });
  for (let place = before.places; place < mark.places; place++) {
    const [pid, tid] = part.lanes.places[place];
    piece.places[place] = lanes.place(label(pid), label(tid));
  }
  for (let stream = before.streams; stream < mark.streams; stream++) {
    const [pid, device, context, id] = part.lanes.streams[stream];
    piece.streams[stream] = lanes.addStream([label(pid), device, context, id]);
  }
  // In order of appearance, with the example of the first; how often is added up later.
  for (const { code, severity, text, example } of part.notes.slice(before.notes, mark.notes))
    builder.notes.add(code, severity, text, example, 0);
}

function eachText(
  { bytes, ends }: PackedStrings,
  first: number,
  end: number,
  visit: (id: number, bytes: Uint8Array, from: number, to: number) => void,
): void {
  for (let id = first; id < end; id++) visit(id, bytes, id === 0 ? 0 : ends[id - 1], ends[id]);
}

function addUp(
  { part, labels, categories: categoryIds, places, streams }: Renumbered,
  builder: ProfileBuilder,
  categories: Categories,
  lanes: Lanes,
  names: TraceNames,
): void {
  categoryIds.forEach((id, theirs) => void categories.addCounts(id, part.categories, theirs));
  places.forEach((place, theirs) => void lanes.addPlace(place, part.lanes, theirs, streams));
  for (const name of part.names) {
    const tid = name.tid === undefined ? undefined : renumberLabel(name.tid, labels);
    names.set({ ...name, pid: renumberLabel(name.pid, labels), tid });
  }
  for (const { code, severity, text, example, count } of part.notes)
    builder.notes.add(code, severity, text, example, count);
}

function joinRows(parts: readonly Renumbered[], pieces: readonly Piece[]): TraceRows {
  const rows = new TraceRows();
  for (const [table, name, column] of rows.columns()) {
    const walks = new Map(
      parts.map(numbers => {
        const chunks = numbers.part.rows[table][name];
        const map = mapOf(table, name, numbers);
        if (map) for (const chunk of chunks) renumber(chunk, map);
        return [numbers.part, new ChunkWalk(chunks)];
      }),
    );
    const index = kinetoTables.indexOf(table);
    for (const { part, mark, before } of pieces)
      walks.get(part)!.move(mark.rows[index] - before.rows[index], column);
  }
  return rows;
}

/** What a column's cells are numbers of. */
function mapOf(table: KinetoTable, column: string, numbers: Renumbered): Int32Array | undefined {
  if (columnsOf(table).some(([name, spec]) => name === column && spec.text)) return numbers.strings;
  if (column === 'thread' || (table === 'memoryEvents' && column === 'process')) return numbers.places;
  // A range on a GPU names a place; which stream that is follows later.
  if (column === 'stream') return table === 'ranges' ? numbers.places : numbers.streams;
  return undefined;
}

function renumber(cells: AnyArray, map: Int32Array): void {
  for (let i = 0; i < cells.length; i++) if (cells[i] >= 0) cells[i] = map[cells[i]];
}

/** Goes through the arrays of a column from front to end. */
class ChunkWalk {
  private chunk = 0;
  private at = 0;

  constructor(private readonly chunks: readonly AnyArray[]) {}

  /** Moves the next so many rows. */
  move(count: number, into: GrowingColumn): void {
    if (this.chunks.length === 0) {
      into.adoptMissing(count);
      return;
    }
    let left = count;
    while (left > 0) {
      const chunk = this.chunks[this.chunk];
      const to = Math.min(chunk.length, this.at + left);
      into.adopt(chunk.subarray(this.at, to));
      left -= to - this.at;
      this.at = to;
      if (to === chunk.length) {
        this.chunk++;
        this.at = 0;
      }
    }
  }
}
