/** Names of processes and threads, from the trace's metadata events (ph M). */
import type { EventReader, TextMark } from './event-reader.js';
import type { Labels } from './labels.js';

const MAX_NAME_BYTES = 1024;
const decoder = new TextDecoder();

export class TraceNames {
  private readonly processes = new Map<number, string>();
  private readonly threads = new Map<string, string>();

  constructor(private readonly labels: Labels) {}

  add(bytes: Uint8Array, event: EventReader): void {
    const what = textOf(bytes, event.name);
    if (what === 'process_name') this.processes.set(event.pid, textOf(bytes, event.argumentName));
    else if (what === 'thread_name')
      this.threads.set(`${event.pid}/${event.tid}`, textOf(bytes, event.argumentName));
  }

  processName(pid: number): string {
    return this.processes.get(pid) ?? this.labels.text(pid);
  }

  threadName(pid: number, tid: number): string {
    const name = this.threads.get(`${pid}/${tid}`) ?? this.labels.text(tid);
    // Kineto puts the id in front: `thread 25772 (python)`.
    return /^thread \S+ \((.*)\)$/.exec(name)?.[1] ?? name;
  }
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
