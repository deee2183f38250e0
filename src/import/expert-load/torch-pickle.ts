/**
 * The part of Python's pickle that torch.save needs for dicts, lists, numbers, texts and tensors. A pickle is a program;
 * this runs only instructions on the list below, and the only things it can make are the ones named in `makers`: nothing
 * of the file is ever executed or looked up.
 */
import { damaged } from './load-content.js';

export interface PickledTensor {
  readonly kind: 'tensor';
  /** `data/KEY` of the archive. */
  readonly storage: string;
  /** `LongStorage`, `IntStorage` … */
  readonly type: string;
  readonly offset: number;
  readonly shape: readonly number[];
  readonly stride: readonly number[];
}

export type Pickled =
  | null
  | boolean
  | number
  | string
  | PickledTensor
  | readonly Pickled[]
  | Map<Pickled, Pickled>;

interface Global {
  readonly kind: 'global';
  readonly name: string;
}
interface Storage {
  readonly kind: 'storage';
  readonly key: string;
  readonly type: string;
}
const MARK = Symbol('mark');
type Item = Pickled | Global | Storage | typeof MARK;

const MOST_ITEMS = 5_000_000;
const STORAGES = ['Long', 'Int', 'Short', 'Char', 'Byte', 'Float', 'Double'].map(
  type => `torch ${type}Storage`,
);
const ALLOWED = new Set(['torch._utils _rebuild_tensor_v2', 'collections OrderedDict', ...STORAGES]);

export function readTorchPickle(name: string, bytes: Uint8Array): Pickled {
  return new Machine(name, bytes).run();
}

export const isTensor = (value: unknown): value is PickledTensor =>
  typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'tensor';

class Machine {
  private readonly stack: Item[] = [];
  private readonly memo = new Map<number, Item>();
  private readonly view: DataView;
  private at = 0;

  constructor(
    private readonly name: string,
    private readonly bytes: Uint8Array,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  run(): Pickled {
    try {
      for (let done = 0; done < MOST_ITEMS; done++) {
        const opcode = this.view.getUint8(this.at++);
        if (opcode === 0x2e) return this.pop() as Pickled;
        this.step(opcode);
      }
    } catch (error) {
      if (error instanceof RangeError) throw damaged(this.name, 'its pickle is truncated');
      throw error;
    }
    throw damaged(this.name, 'its pickle contains too many objects');
  }

  private step(opcode: number): void {
    const { stack } = this;
    switch (opcode) {
      case 0x80: // PROTO
        this.at++;
        return;
      case 0x28: // MARK
        stack.push(MARK);
        return;
      case 0x4e:
        stack.push(null);
        return;
      case 0x88:
      case 0x89:
        stack.push(opcode === 0x88);
        return;
      case 0x4b: // BININT1
        stack.push(this.view.getUint8(this.at++));
        return;
      case 0x4d: // BININT2
        stack.push(this.view.getUint16(this.take(2), true));
        return;
      case 0x4a: // BININT
        stack.push(this.view.getInt32(this.take(4), true));
        return;
      case 0x8a: // LONG1
        stack.push(this.long());
        return;
      case 0x47: // BINFLOAT
        stack.push(this.view.getFloat64(this.take(8)));
        return;
      case 0x58: // BINUNICODE
        stack.push(this.text(this.view.getUint32(this.take(4), true)));
        return;
      case 0x7d: // EMPTY_DICT
        stack.push(new Map());
        return;
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
        stack.push([]);
        return;
      case 0x74: // TUPLE
        stack.push(this.marked());
        return;
      case 0x85:
      case 0x86:
      case 0x87:
        stack.push(this.last(opcode - 0x84));
        return;
      case 0x61: // APPEND
        this.append([this.pop() as Pickled]);
        return;
      case 0x65: // APPENDS
        this.append(this.marked());
        return;
      case 0x73: // SETITEM
        this.set(this.last(2));
        return;
      case 0x75: // SETITEMS
        this.set(this.marked());
        return;
      case 0x71: // BINPUT
        this.memo.set(this.view.getUint8(this.at++), this.top());
        return;
      case 0x72: // LONG_BINPUT
        this.memo.set(this.view.getUint32(this.take(4), true), this.top());
        return;
      case 0x68: // BINGET
        stack.push(this.remembered(this.view.getUint8(this.at++)));
        return;
      case 0x6a: // LONG_BINGET
        stack.push(this.remembered(this.view.getUint32(this.take(4), true)));
        return;
      case 0x63: // GLOBAL
        stack.push(this.global());
        return;
      case 0x51: // BINPERSID
        stack.push(this.storage());
        return;
      case 0x52: // REDUCE
        stack.push(this.make());
        return;
      default:
        throw this.unknown(`instruction 0x${opcode.toString(16)}`);
    }
  }

  private take(bytes: number): number {
    this.at += bytes;
    return this.at - bytes;
  }

  private text(length: number): string {
    const from = this.take(length);
    if (this.at > this.bytes.length) throw new RangeError();
    return new TextDecoder().decode(this.bytes.subarray(from, this.at));
  }

  private long(): number {
    const length = this.view.getUint8(this.at++);
    if (length > 8) throw this.unknown('a number of more than 8 bytes');
    let value = 0n;
    for (let i = 0; i < length; i++) value |= BigInt(this.view.getUint8(this.at++)) << BigInt(8 * i);
    return Number(length > 0 ? BigInt.asIntN(8 * length, value) : 0n);
  }

  private line(): string {
    const end = this.bytes.indexOf(0x0a, this.at);
    if (end < 0 || end - this.at > 200) throw new RangeError();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, end));
    this.at = end + 1;
    return text;
  }

  private global(): Global {
    const name = `${this.line()} ${this.line()}`;
    if (!ALLOWED.has(name)) throw this.unknown(name);
    return { kind: 'global', name };
  }

  /** ('storage', type, key, device, items): the bytes are an entry of the archive. */
  private storage(): Storage {
    const id = this.pop() as unknown[];
    const [tag, type, key] = Array.isArray(id) ? id : [];
    const named = (type as Global | undefined)?.name;
    if (tag !== 'storage' || named === undefined || typeof key !== 'string' || !/^\d{1,9}$/.test(key))
      throw this.unknown('a reference to something other than a storage');
    return { kind: 'storage', key, type: named.replace('torch ', '') };
  }

  private make(): Item {
    const given = this.pop() as unknown[];
    const maker = (this.pop() as Global | undefined)?.name;
    if (maker === 'collections OrderedDict') return new Map();
    const [storage, offset, shape, stride] = Array.isArray(given) ? given : [];
    const numbers = (list: unknown): list is number[] =>
      Array.isArray(list) && list.every(n => Number.isSafeInteger(n) && n >= 0);
    const from = (storage as Storage | undefined)?.kind === 'storage' ? (storage as Storage) : undefined;
    if (
      maker !== 'torch._utils _rebuild_tensor_v2' ||
      !from ||
      !numbers(shape) ||
      !numbers(stride) ||
      !Number.isSafeInteger(offset)
    )
      throw this.unknown(`a call of ${maker ?? 'something unnamed'}`);
    return { kind: 'tensor', storage: from.key, type: from.type, offset: offset as number, shape, stride };
  }

  private pop(): Item {
    if (this.stack.length === 0) throw new RangeError();
    return this.stack.pop()!;
  }

  private top(): Item {
    if (this.stack.length === 0) throw new RangeError();
    return this.stack[this.stack.length - 1];
  }

  private last(count: number): Pickled[] {
    if (this.stack.length < count) throw new RangeError();
    return this.stack.splice(this.stack.length - count) as Pickled[];
  }

  private marked(): Pickled[] {
    const from = this.stack.lastIndexOf(MARK);
    if (from < 0) throw new RangeError();
    const items = this.stack.splice(from);
    return items.slice(1) as Pickled[];
  }

  private append(items: readonly Pickled[]): void {
    const list = this.top();
    if (!Array.isArray(list)) throw this.unknown('an invalid list');
    for (const item of items) list.push(item);
  }

  private set(items: readonly Pickled[]): void {
    const map = this.top();
    if (!(map instanceof Map)) throw this.unknown('an invalid dict');
    for (let i = 0; i + 1 < items.length; i += 2) map.set(items[i], items[i + 1]);
  }

  private remembered(index: number): Item {
    const found = this.memo.get(index);
    if (found === undefined) throw new RangeError();
    return found;
  }

  private unknown(what: string) {
    return damaged(this.name, `its pickle requests ${JSON.stringify(what)}, which is not on the allow list`);
  }
}
