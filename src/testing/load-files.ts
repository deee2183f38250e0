/** Files of expert loads as their programs write them, for tests: NumPy, safetensors, torch.save. */

export function npyBytes(descr: string, shape: readonly number[], body: Uint8Array, fortran = false): Buffer {
  const tuple = `(${shape.join(', ')}${shape.length === 1 ? ',' : ''})`;
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${tuple}, }`;
  const padded = `${text}${' '.repeat((64 - ((10 + text.length + 1) % 64)) % 64)}\n`;
  const head = Buffer.alloc(10);
  head.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0]);
  head.writeUInt16LE(padded.length, 8);
  return Buffer.concat([head, Buffer.from(padded, 'latin1'), body]);
}

const writers = {
  '|i1': (b: Buffer, v: number, i: number) => b.writeInt8(v, i),
  '|u1': (b: Buffer, v: number, i: number) => b.writeUInt8(v, i),
  '<i2': (b: Buffer, v: number, i: number) => b.writeInt16LE(v, i * 2),
  '<u2': (b: Buffer, v: number, i: number) => b.writeUInt16LE(v, i * 2),
  '<i4': (b: Buffer, v: number, i: number) => b.writeInt32LE(v, i * 4),
  '<u4': (b: Buffer, v: number, i: number) => b.writeUInt32LE(v, i * 4),
  '<i8': (b: Buffer, v: number, i: number) => b.writeBigInt64LE(BigInt(v), i * 8),
  '<u8': (b: Buffer, v: number, i: number) => b.writeBigUInt64LE(BigInt(v), i * 8),
  '<f4': (b: Buffer, v: number, i: number) => b.writeFloatLE(v, i * 4),
  '<f8': (b: Buffer, v: number, i: number) => b.writeDoubleLE(v, i * 8),
} as const;

export type NumpyType = keyof typeof writers;
export const numpyTypes = Object.keys(writers) as NumpyType[];

export function numbersAs(type: NumpyType, values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * Number(type[2]));
  values.forEach((value, i) => {
    writers[type](bytes, value, i);
  });
  return bytes;
}

export const npyOf = (type: NumpyType, shape: readonly number[], values: readonly number[]): Buffer =>
  npyBytes(type, shape, numbersAs(type, values));

/** Tensors of int64, as TensorRT-LLM saves counts. */
export function safetensorsOf(tensors: Readonly<Record<string, readonly number[]>>): Buffer {
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let at = 0;
  for (const [name, values] of Object.entries(tensors)) {
    const bytes = numbersAs('<i8', values);
    header[name] = { dtype: 'I64', shape: [values.length], data_offsets: [at, at + bytes.length] };
    parts.push(bytes);
    at += bytes.length;
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  return Buffer.concat([length, text, ...parts]);
}

/** A zip whose entries are stored, as torch.save writes it. */
export function storedZip(entries: Readonly<Record<string, Uint8Array>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(entries)) {
    const label = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt32LE(content.length, 18);
    local.writeUInt32LE(content.length, 22);
    local.writeUInt16LE(label.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt32LE(content.length, 20);
    central.writeUInt32LE(content.length, 24);
    central.writeUInt16LE(label.length, 28);
    central.writeUInt32LE(at, 42);
    directory.push(central, label);
    parts.push(local, label, Buffer.from(content));
    at += 30 + label.length + content.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(directory.length / 2, 8);
  end.writeUInt16LE(directory.length / 2, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, list, end]);
}

export interface TorchTensor {
  readonly shape: readonly number[];
  readonly values: readonly number[];
}
type Torch = null | number | string | TorchTensor | readonly Torch[] | { readonly [key: string]: Torch };

const isTensor = (value: Torch): value is TorchTensor =>
  typeof value === 'object' && value !== null && 'shape' in value && 'values' in value;

/** The bytes torch.save writes for dicts, lists, whole numbers, texts and tensors of int64 (pickle protocol 2). */
export function torchSaved(value: Torch): Buffer {
  const storages: Record<string, Uint8Array> = {};
  const pickle = Buffer.concat([Buffer.from([0x80, 2]), write(value), Buffer.from('.')]);
  function write(item: Torch): Buffer {
    if (item === null) return Buffer.from('N');
    if (typeof item === 'number') return whole(item);
    if (typeof item === 'string') return text(item);
    if (isTensor(item)) return tensor(item);
    if (Array.isArray(item)) return Buffer.concat([Buffer.from(']('), ...item.map(write), Buffer.from('e')]);
    const pairs = Object.entries(item).flatMap(([key, own]) => [text(key), write(own)]);
    return Buffer.concat([Buffer.from('}('), ...pairs, Buffer.from('u')]);
  }
  function tensor({ shape, values }: TorchTensor): Buffer {
    const key = String(Object.keys(storages).length);
    storages[`archive/data/${key}`] = numbersAs('<i8', values);
    const strides = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
    const tuple = (numbers: readonly number[]) =>
      Buffer.concat([Buffer.from('('), ...numbers.map(whole), Buffer.from('t')]);
    return Buffer.concat([
      Buffer.from('ctorch._utils\n_rebuild_tensor_v2\n(('),
      text('storage'),
      Buffer.from('ctorch\nLongStorage\n'),
      text(key),
      text('cpu'),
      whole(values.length),
      Buffer.from('tQ'),
      whole(0),
      tuple(shape),
      tuple(strides),
      Buffer.from([0x89]),
      Buffer.from('ccollections\nOrderedDict\n)RtR'),
    ]);
  }
  return storedZip({ 'archive/data.pkl': pickle, ...storages, 'archive/version': Buffer.from('3\n') });
}

function whole(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = 0x4a;
  bytes.writeInt32LE(value, 1);
  return bytes;
}

function text(value: string): Buffer {
  const body = Buffer.from(value);
  const head = Buffer.alloc(5);
  head[0] = 0x58;
  head.writeUInt32LE(body.length, 1);
  return Buffer.concat([head, body]);
}
