/**
 * The usual events of a trace, read by WebAssembly: wasm/event-scanner.ts says what it reads and what it declines, which
 * is left to the EventReader. Both give the same where both read.
 */
import { type KeyTable, slotOf } from '../../../base/json/key-table.js';
import { WasmCode } from '../../../base/wasm-code.js';
import { argumentKeys } from './event-keys.js';
import { type EventReader, eventKeys, shortenedCategories, type Unwanted } from './event-reader.js';
import { scannerCode } from './scanner-code.js';

/** How the scanner ended: at an event that somebody wants, at one that it declines, or at something else. */
export const Scanned = { over: 0, wanted: 1, declined: 2 } as const;

/** What is not wanted, as the scanner has it: one bit each. */
const unwantedBits = {
  ops: 1,
  frames: 2,
  flows: 4,
  opArguments: 8,
  frameArguments: 16,
  opValues: 32,
} as const satisfies Record<keyof Unwanted, number>;

/** Where bytes begin; the scanner's own memory lies before (wasm/layout.ts). */
const INPUT = 6553600;
const SLOT_BYTES = 64;
/** Zeros behind the bytes, at which every loop ends. */
const SPARE_BYTES = 64;

type Exports = Record<string, { readonly value: number }> & {
  next(brace: number, end: number): number;
  setUnwanted(bits: number): void;
};

const code = new WasmCode(scannerCode);

export class EventScanner {
  /** Only bytes that lie here can be scanned. */
  readonly bytes: Uint8Array;
  /** Where the last event ended that was read or passed over, and how many were passed over. */
  after = 0;
  passed = 0;
  private readonly fields: Int32Array;
  private readonly values: Float64Array;
  private readonly numbers: Float64Array;
  private readonly texts: Int32Array;
  private readonly scan: Exports['next'];

  private constructor(capacity: number, unwanted: Unwanted) {
    const { exports, buffer } = code.start<Exports>(INPUT + capacity + SPARE_BYTES);
    const place = (name: string) => exports[name].value;
    this.bytes = new Uint8Array(buffer, INPUT, capacity);
    this.fields = new Int32Array(buffer, place('FIELDS'), 13);
    this.values = new Float64Array(buffer, place('VALUES'), 6);
    this.numbers = new Float64Array(buffer, place('NUMBERS'), place('NUMBER_COUNT'));
    this.texts = new Int32Array(buffer, place('TEXTS'), place('TEXT_COUNT') * 3);
    this.scan = exports.next;
    const all = new Uint8Array(buffer);
    writeKeys(all, place('EVENT_KEYS'), place('SLOTS'), eventKeys);
    writeKeys(all, place('CATEGORIES'), place('SLOTS'), shortenedCategories);
    writeKeys(all, place('ARGUMENT_KEYS'), place('ARGUMENT_SLOTS'), argumentKeys);
    const kinds = Object.keys(unwantedBits) as (keyof Unwanted)[];
    exports.setUnwanted(kinds.reduce((bits, kind) => bits | (unwanted[kind] ? unwantedBits[kind] : 0), 0));
  }

  /** Undefined where the processor or Node cannot do it. */
  static create(capacity: number, unwanted: Unwanted): EventScanner | undefined {
    try {
      return new EventScanner(capacity, unwanted);
    } catch {
      return undefined;
    }
  }

  /** Reads on at the brace of an event until somebody wants one. `end` is where the cursor's quotes are. */
  next(brace: number, end: number): number {
    const status = this.scan(INPUT + brace, INPUT + end);
    this.after = this.fields[2] - INPUT;
    this.passed = this.fields[3];
    return status;
  }

  /** Hands over the event that was wanted. */
  give(event: EventReader): void {
    event.takeScanned(this.bytes, this.fields, this.values, this.numbers, this.texts);
  }
}

/** The table as find() of the scanner looks for keys: meaning, length, key. */
function writeKeys(memory: Uint8Array, table: number, slots: number, keys: KeyTable): void {
  for (const { key, meaning } of keys.entries()) {
    let slot = slotOf(key, 0, key.length) & (slots - 1);
    while (memory[table + slot * SLOT_BYTES + 1] !== 0) slot = (slot + 1) & (slots - 1);
    const at = table + slot * SLOT_BYTES;
    memory[at] = meaning;
    memory[at + 1] = key.length;
    memory.set(key, at + 2);
  }
}
