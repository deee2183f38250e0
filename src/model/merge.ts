/**
 * Several files of one run (ranks, or parts) become one Profile, so that an analysis only ever sees one.
 *
 * Clocks: files that know their wall-clock zero are shifted onto the earliest one; if any file does not, each keeps
 * its own zero and a note says that times of different files cannot be compared.
 */
import { type AnyArray, allocate, missingValue, NONE } from '../base/column.js';
import { ProfileBuilder, type RawTable } from './builder.js';
import type { CaptureInfo, Profile } from './profile.js';
import { columnsOf, type EntityName, type TableName, tableNames } from './schema.js';

/** How one input's numbers translate: row lists by old row, strings by old id, table rows by offset. */
interface Translation {
  readonly strings: (id: number) => number;
  readonly entities: Record<EntityName, Int32Array>;
  readonly shiftNs: number;
}

export function mergeProfiles(inputs: readonly Profile[]): Profile {
  const builder = new ProfileBuilder();
  const aligned = inputs.every(input => input.clock === 'utc');
  builder.clock = aligned ? 'utc' : 'session';
  builder.originNs = aligned
    ? inputs.reduce((least, input) => (input.originNs < least ? input.originNs : least), inputs[0].originNs)
    : 0n;
  const places = placesOf(inputs);
  let files = 0;
  const translations = inputs.map((input, index) => {
    const translation = translate(builder, input, places[index], aligned, files);
    files += input.capture.files.length;
    return translation;
  });
  for (const name of tableNames) mergeTable(builder, name, inputs, translations);
  for (const input of inputs) {
    for (const note of input.notes) {
      const example = note.example || input.capture.files[0];
      builder.notes.add(note.code, note.severity, note.text, example, note.count);
    }
  }
  if (!aligned) {
    builder.notes.add(
      'clocks-not-aligned',
      'warning',
      'files have separate clocks: times of different ranks cannot be compared, unless their collectives align them',
      'not every file has a wall-clock start',
      inputs.length,
    );
  }
  const stepLogs = inputs.flatMap(input => input.stepLogs ?? []);
  return { ...builder.build(mergeCapture(inputs)), ...(stepLogs.length > 0 ? { stepLogs } : {}) };
}

/**
 * Where each file's processes ran, as far as they must be told apart. Processes of different files are different
 * processes, even when containers give them the same number or one rank was traced twice.
 */
function placesOf(inputs: readonly Profile[]): string[] {
  const ranks = inputs.map(input => input.capture.ranks[0]);
  return ranks.map((rank, index) => {
    if (rank === undefined) return `file ${index + 1}`;
    const tracedAgain = ranks.filter(other => other === rank).length > 1;
    return tracedAgain ? `rank ${rank}, file ${index + 1}` : `rank ${rank}`;
  });
}

function translate(
  builder: ProfileBuilder,
  input: Profile,
  place: string,
  aligned: boolean,
  file: number,
): Translation {
  const moved = new Map<number, number>();
  const strings = (id: number) => {
    if (id === NONE) return NONE;
    let known = moved.get(id);
    if (known === undefined) {
      const bytes = input.strings.bytes(id);
      known = builder.strings.internBytes(bytes, 0, bytes.length);
      moved.set(id, known);
    }
    return known;
  };
  const [rank] = input.capture.ranks;
  const hostOf = (host: string) => (host === '' ? place : `${host}, ${place}`);
  // Every rank lists every GPU of its machine; only those it worked on are its own.
  const used = new Set<number>(input.streams.map(stream => stream.gpu));
  for (const table of [input.tables.metricSamples, input.tables.memoryEvents]) {
    for (const row of (table?.gpu ?? []) as unknown as Int32Array) used.add(row);
  }
  const gpus = Int32Array.from(input.gpus, (gpu, old) => {
    if (!used.has(old)) return NONE;
    // A rank traced twice used the same GPU twice.
    const host = rank === undefined ? hostOf(gpu.host) : `rank ${rank}`;
    const row = builder.gpu(host, gpu.deviceId);
    Object.assign(builder.gpus[row], gpu, { host });
    return row;
  });
  const processes = Int32Array.from(input.processes, process => {
    const row = builder.process(hostOf(process.host), process.pid);
    Object.assign(builder.processes[row], process, { host: hostOf(process.host), file });
    if (rank !== undefined && process.rank === undefined) builder.processes[row].rank = rank;
    return row;
  });
  const threads = Int32Array.from(input.threads, thread => {
    const row = builder.thread(processes[thread.process] as never, thread.tid);
    Object.assign(builder.threads[row], thread, { process: processes[thread.process] });
    return row;
  });
  const streams = Int32Array.from(input.streams, s =>
    builder.stream(
      processes[s.process] as never,
      gpus[s.gpu] as never,
      s.contextId,
      s.streamId,
      s.greenContextId,
    ),
  );
  const metrics = Int32Array.from(input.metrics, name => builder.metric(name));
  const shiftNs = aligned ? Number(input.originNs - builder.originNs) : 0;
  return { strings, entities: { gpus, processes, threads, streams, metrics }, shiftNs };
}

function mergeTable(
  builder: ProfileBuilder,
  name: TableName,
  inputs: readonly Profile[],
  translations: readonly Translation[],
): void {
  const parts = inputs.map(
    input => input.tables[name] as unknown as ({ length: number } & RawTable) | undefined,
  );
  const length = parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
  if (length === 0) return;
  const columns: RawTable = {};
  for (const [column, spec] of columnsOf(name)) {
    if (spec.optional && !parts.some(part => part?.[column])) continue;
    const cells = allocate(spec.storage, length);
    let at = 0;
    parts.forEach((part, p) => {
      if (!part) return;
      const { strings, entities, shiftNs } = translations[p];
      const source = part[column] as AnyArray | undefined;
      const isTime = column === 'start' || column === 'end';
      const entity = spec.ref && spec.ref in entities ? entities[spec.ref as EntityName] : undefined;
      // References count rows as handed over; the builder moves them along when it sorts.
      const offset = spec.ref && !entity ? rowOffset(inputs, spec.ref as TableName, p) : 0;
      for (let row = 0; row < part.length; row++) {
        const value = source ? source[row] : missingValue(spec.storage);
        if (spec.text) cells[at++] = strings(value);
        else if (entity) cells[at++] = value === NONE ? NONE : entity[value];
        else if (spec.ref) cells[at++] = value === NONE ? NONE : value + offset;
        else cells[at++] = isTime ? value + shiftNs : value;
      }
    });
    columns[column] = cells;
  }
  builder.addTable(name, columns, length);
}

function rowOffset(inputs: readonly Profile[], table: TableName, index: number): number {
  let offset = 0;
  for (let i = 0; i < index; i++) offset += inputs[i].tables[table]?.length ?? 0;
  return offset;
}

function mergeCapture(inputs: readonly Profile[]): CaptureInfo {
  const [first] = inputs;
  const sourceCounts: Record<string, number> = {};
  for (const input of inputs) {
    for (const [key, count] of Object.entries(input.capture.sourceCounts))
      sourceCounts[key] = (sourceCounts[key] ?? 0) + count;
  }
  const sum = (value: (capture: CaptureInfo) => number) =>
    inputs.reduce((total, input) => total + value(input.capture), 0);
  const { startNs: _start, endNs: _end, distributed: _distributed, ...shared } = first.capture;
  const distributed = inputs.find(({ capture }) => capture.distributed)?.capture.distributed;
  return {
    ...shared,
    ...(distributed ? { distributed } : {}),
    files: inputs.flatMap(input => input.capture.files),
    sizeBytes: sum(capture => capture.sizeBytes),
    ranks: [...new Set(inputs.flatMap(input => input.capture.ranks))].sort((a, b) => a - b),
    environment: {
      variables: sum(capture => capture.environment.variables),
      looksSecret: sum(capture => capture.environment.looksSecret),
    },
    sourceCounts,
  };
}
