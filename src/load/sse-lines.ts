/**
 * Server-sent events, cut from bytes as they come. Lines end with a line feed, which occurs in no other character of
 * UTF-8, so a line is decoded only when it is whole and no character is ever cut. Every `data:` line is one event:
 * servers of this API write their JSON on one line. A line has a most length: what never ends must not fill the memory.
 */
import { Failure } from './failure.js';

const MOST_LINE_BYTES = 4 * 1024 * 1024;

const DATA = Buffer.from('data:');
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const decoder = new TextDecoder('utf-8', { fatal: true });

export class SseLines {
  private rest: Buffer[] = [];
  private restBytes = 0;

  constructor(private readonly onData: (data: string) => void) {}

  push(bytes: Buffer): void {
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_FEED, from);
      if (end === -1) break;
      this.line(this.restBytes === 0 ? bytes.subarray(from, end) : this.joined(bytes.subarray(from, end)));
      from = end + 1;
    }
    if (from === bytes.length) return;
    const rest = bytes.subarray(from);
    this.restBytes += rest.length;
    if (this.restBytes > MOST_LINE_BYTES)
      throw new Failure('too-large', `a line of more than ${MOST_LINE_BYTES} bytes`);
    // Many small packets without a line end must not become as many small buffers to search.
    this.rest.push(rest);
    if (this.rest.length > 1000) this.rest = [Buffer.concat(this.rest)];
  }

  /** What stands after the last line end: a line whose end was not sent. */
  end(): void {
    if (this.restBytes > 0) this.line(this.joined(Buffer.alloc(0)));
  }

  private joined(last: Buffer): Buffer {
    const line = Buffer.concat([...this.rest, last]);
    this.rest = [];
    this.restBytes = 0;
    if (line.length > MOST_LINE_BYTES)
      throw new Failure('too-large', `a line of more than ${MOST_LINE_BYTES} bytes`);
    return line;
  }

  private line(line: Buffer): void {
    if (line.length > 0 && line[line.length - 1] === CARRIAGE_RETURN) line = line.subarray(0, -1);
    // Comments keep connections alive; names and numbers of events say nothing here.
    if (line.length < DATA.length || DATA.compare(line, 0, DATA.length) !== 0) {
      if (line.length > 0 && !/^(:|event:|id:|retry:|data$)/.test(line.toString('latin1', 0, 8)))
        throw new Failure('malformed', 'a line that is not a server-sent event');
      return;
    }
    let data: string;
    try {
      data = decoder.decode(line.subarray(DATA.length));
    } catch {
      throw new Failure('malformed', 'an event that is not UTF-8');
    }
    this.onData(data.trim());
  }
}
