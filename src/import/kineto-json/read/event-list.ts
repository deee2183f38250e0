/**
 * Reads the events of a list, one after the other, as far as the bytes go. A damaged stretch costs what is in it, not
 * the rest.
 */
import { JsonCursor, Trouble } from '../../../base/json/json-cursor.js';
import type { EventReader } from '../events/event-reader.js';
import type { EventStore } from '../events/event-store.js';

const OPEN_BRACE = 0x7b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;
const COMMA = 0x2c;

export class EventList {
  readonly cursor = new JsonCursor();

  /** `onDamage` is told where what is no event begins. */
  constructor(
    private readonly event: EventReader,
    private readonly store: EventStore,
    private readonly onDamage: (at: number) => void,
  ) {}

  /**
   * As many events as there are; true when the list is closed, false when more bytes are needed. The cursor is behind
   * the last whole event then. The busy loop of the whole importer.
   */
  read(): boolean {
    const { cursor, event, store } = this;
    const { bytes, end } = cursor;
    while (true) {
      let i = cursor.pos;
      while (bytes[i] <= SPACE || bytes[i] === COMMA) i++;
      cursor.pos = i;
      if (i >= end) return false;
      if (bytes[i] === OPEN_BRACE) {
        const passed = event.passRun(cursor);
        if (passed > 0) {
          store.events += passed;
          continue;
        }
        const { roundedDecimals, exponentDecimals } = cursor;
        cursor.pos++;
        event.read(cursor);
        if (cursor.trouble === Trouble.none) store.store(bytes);
        else if (cursor.trouble === Trouble.ranOut) {
          cursor.pos = i;
          // It will be read again, from its beginning.
          cursor.roundedDecimals = roundedDecimals;
          cursor.exponentDecimals = exponentDecimals;
          return false;
        } else this.resynchronize(cursor.pos);
      } else if (bytes[i] === CLOSE_BRACKET) {
        cursor.pos++;
        return true;
      } else this.resynchronize(i);
    }
  }

  /** Goes on at the next brace or bracket behind the damage. Never looks back, so damage cannot cost more than once. */
  private resynchronize(at: number): void {
    const { bytes, end } = this.cursor;
    let i = at;
    while (i < end && bytes[i] !== OPEN_BRACE && bytes[i] !== CLOSE_BRACKET) i++;
    this.onDamage(at);
    this.cursor.reset(bytes, Math.max(i, at), end);
  }
}
