/** Names of processes and threads, from the trace's metadata events (ph M). */
import type { EventReader, TextMark } from './event-reader.js';
import type { Labels } from './labels.js';

const MAX_NAME_BYTES = 1024;
const decoder = new TextDecoder();

export interface GivenName {
  readonly pid: number;
  /** Missing for the name of a process. */
  readonly tid?: number;
  readonly text: string;
  readonly piece: number;
}

export class TraceNames {
  private readonly processes = new Map<number, GivenName>();
  private readonly threads = new Map<string, GivenName>();
  /** The piece of the file being read: of several names for one thing the last in the file counts. */
  piece = 0;

  constructor(private readonly labels: Labels) {}

  add(bytes: Uint8Array, event: EventReader): void {
    const what = textOf(bytes, event.name);
    const { pid, tid } = event;
    if (what === 'process_name')
      this.set({ pid, text: textOf(bytes, event.argumentName), piece: this.piece });
    else if (what === 'thread_name')
      this.set({ pid, tid, text: textOf(bytes, event.argumentName), piece: this.piece });
  }

  /** Sets a name, unless one from later in the file is known. */
  set(name: GivenName): void {
    if (name.tid === undefined) setLatest(this.processes, name.pid, name);
    else setLatest(this.threads, `${name.pid}/${name.tid}`, name);
  }

  give(): GivenName[] {
    return [...this.processes.values(), ...this.threads.values()];
  }

  /** The word that stands for a process id; '' where it is a number. */
  word(pid: number): string {
    return this.labels.text(pid);
  }

  processName(pid: number): string {
    return this.processes.get(pid)?.text ?? this.labels.text(pid);
  }

  threadName(pid: number, tid: number): string {
    const name = this.threads.get(`${pid}/${tid}`)?.text ?? this.labels.text(tid);
    // Kineto puts the id in front: `thread 25772 (python)`.
    return /^thread \S+ \((.*)\)$/.exec(name)?.[1] ?? name;
  }
}

function setLatest<Key>(names: Map<Key, GivenName>, key: Key, name: GivenName): void {
  const known = names.get(key);
  if (!known || known.piece <= name.piece) names.set(key, name);
}

function textOf(bytes: Uint8Array, mark: TextMark): string {
  if (mark.to === 0) return '';
  const text = decoder.decode(bytes.subarray(mark.from, Math.min(mark.to, mark.from + MAX_NAME_BYTES)));
  if (!mark.escaped) return text.trim();
  try {
    return String(JSON.parse(`"${text}"`)).trim();
  } catch {
    return text.trim();
  }
}
