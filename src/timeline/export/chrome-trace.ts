/**
 * A trace as Chrome's JSON, in the words of the PyTorch profiler: Perfetto and chrome://tracing show it, and Stepscope
 * opens it again. Times are microseconds with the nanoseconds as decimals.
 */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import type { TimeWindow } from '../../model/slice.js';
import { recordedEvents } from './recorded-events.js';
import type { TraceEvent, TracePlace } from './trace-event.js';
import { TracePlaces, traceHead } from './trace-places.js';

const EVENTS_PER_PIECE = 500;

/** The events of a window of a profile, and others (own-events.ts) after them. */
export function traceOf(
  profile: Profile,
  window: TimeWindow,
  others: Iterable<TraceEvent> = [],
): Iterable<string> {
  return chromeTrace(
    profile,
    (function* () {
      yield* recordedEvents(profile, window);
      yield* others;
    })(),
  );
}

/** Pieces of text; joined they are one JSON document. */
export function* chromeTrace(profile: Profile, events: Iterable<TraceEvent>): Iterable<string> {
  const writer = new LineWriter(new TracePlaces(profile));
  yield `${JSON.stringify(traceHead(profile)).slice(0, -1)},"traceEvents":[\n`;
  let piece: string[] = writer.names();
  let first = true;
  for (const event of events) {
    writer.add(event, piece);
    if (piece.length < EVENTS_PER_PIECE) continue;
    yield `${first ? '' : ',\n'}${piece.join(',\n')}`;
    first = false;
    piece = [];
  }
  if (piece.length > 0) yield `${first ? '' : ',\n'}${piece.join(',\n')}`;
  yield '\n]}\n';
}

/** Nanoseconds as microseconds, every digit. */
function micros(ns: number): string {
  const whole = Math.round(Math.abs(ns));
  const rest = whole % 1000;
  const sign = ns < 0 && whole > 0 ? '-' : '';
  return `${sign}${(whole - rest) / 1000}${rest === 0 ? '' : `.${String(rest).padStart(3, '0')}`}`;
}

class LineWriter {
  private readonly places = new Map<number, string>();
  private readonly texts = new Map<string, string>();

  constructor(private readonly known: TracePlaces) {}

  add(event: TraceEvent, lines: string[]): void {
    const ts = micros(event.startNs);
    if (event.kind === 'counter') {
      const pid = event.gpu === NONE ? '"Stepscope"' : this.pidOfGpu(event.gpu);
      const args = `{${this.text(event.unit)}:${event.value}}`;
      lines.push(`{"ph":"C","name":${this.text(event.name)},"pid":${pid},"ts":${ts},"args":${args}}`);
      return;
    }
    const place = this.place(event.place);
    const args = event.args ? `,"args":${JSON.stringify(event.args)}` : '';
    const what = `"cat":${this.text(event.category)},"name":${this.text(event.name)},${place},"ts":${ts}`;
    if (event.kind === 'instant') {
      lines.push(`{"ph":"i","s":"t",${what}${args}}`);
      return;
    }
    // What was begun and never ended stays open.
    const isOpen = event.endNs === Infinity;
    const length = isOpen ? '' : `,"dur":${micros(Math.round(event.endNs) - Math.round(event.startNs))}`;
    lines.push(`{"ph":"${isOpen ? 'B' : 'X'}",${what}${length}${args}}`);
    if (!event.arrow) return;
    const { id, begins } = event.arrow;
    const end = begins ? '"ph":"s"' : '"ph":"f","bp":"e"';
    lines.push(`{${end},"id":${id},"cat":"ac2g","name":"ac2g",${place},"ts":${ts}}`);
  }

  names(): string[] {
    const { processes, gpus, threads, streams } = this.known.profile;
    const lines: string[] = [];
    const name = (what: string, place: string, args: object) =>
      lines.push(`{"ph":"M","name":"${what}",${place},"ts":0,"args":${JSON.stringify(args)}}`);
    const named = (pid: string, text: string, labels: string) => {
      name('process_name', `"pid":${pid},"tid":0`, { name: text });
      name('process_labels', `"pid":${pid},"tid":0`, { labels });
    };
    for (const [row, process] of processes.entries()) named(this.pidOfProcess(row), process.name, 'CPU');
    for (const [gpu, { deviceId }] of gpus.entries())
      named(this.pidOfGpu(gpu), processes[0]?.name ?? '', `GPU ${deviceId}`);
    for (const [thread, { tid, name: text }] of threads.entries())
      name('thread_name', this.place({ kind: 'thread', thread }), { name: text || `thread ${tid}` });
    for (const [stream, { streamId }] of streams.entries())
      name('thread_name', this.place({ kind: 'stream', stream }), { name: `stream ${streamId}` });
    return lines;
  }

  private place(place: TracePlace): string {
    if (place.kind === 'own') {
      const pid = place.gpu === NONE ? 'Stepscope' : `Stepscope · ${this.known.gpuLabel(place.gpu)}`;
      return `"pid":${this.text(pid)},"tid":${this.text(place.track)}`;
    }
    const key = place.kind === 'thread' ? place.thread * 2 : place.stream * 2 + 1;
    let text = this.places.get(key);
    if (text === undefined) {
      const { threads, streams } = this.known.profile;
      text =
        place.kind === 'thread'
          ? `"pid":${this.pidOfProcess(threads[place.thread].process)},"tid":${threads[place.thread].tid}`
          : `"pid":${this.pidOfGpu(streams[place.stream].gpu)},"tid":${streams[place.stream].streamId}`;
      this.places.set(key, text);
    }
    return text;
  }

  private pidOfProcess(process: number): string {
    const { pid } = this.known.profile.processes[process];
    return withRank(pid, this.known.rankOfProcess(process));
  }

  private pidOfGpu(gpu: number): string {
    return withRank(this.known.profile.gpus[gpu].deviceId, this.known.rank(gpu));
  }

  private text(text: string): string {
    let json = this.texts.get(text);
    if (json === undefined) {
      json = JSON.stringify(text);
      this.texts.set(text, json);
    }
    return json;
  }
}

/** As tools that merge ranks into one trace write it, and our importer reads it. */
const withRank = (pid: number, rank: number) => (rank === NONE ? String(pid) : `"[TP${rank}] ${pid}"`);
