/** What a packet says about an event: name, category and arguments, in the words of the PyTorch profiler. */
import { MessageReader } from '../../base/protobuf/message-reader.js';
import {
  AnnotationField,
  EventField,
  ExtraField,
  GpuStageField,
  LaunchField,
} from '../../catalog/perfetto-fields.js';
import type { InternedTexts } from './packet-reader.js';

const DEEPEST = 16;
/** One for each depth, used again: events come by the million. */
const readers = Array.from({ length: DEEPEST + 2 }, () => new MessageReader());
const eventReader = new MessageReader();

export interface EventContent {
  readonly name: string;
  readonly category: string;
  /** Entries of a JSON object. */
  readonly args: ReadonlyMap<string, string>;
}

/** Undefined where it is damaged. `missing` is called for every number of a text that the trace does not have. */
export function eventContent(
  bytes: Uint8Array,
  texts: InternedTexts,
  missing: (what: string) => void,
): EventContent | undefined {
  const reader = eventReader.of(bytes);
  const args = new Map<string, string>();
  let [name, category] = ['', ''];
  const named = (of: ReadonlyMap<number | string, string>, what: string) => {
    const text = of.get(reader.key);
    if (text === undefined) missing(what);
    return text ?? `(${what} unknown)`;
  };
  while (reader.next()) {
    if (reader.field === EventField.name && !reader.isBytes) name = named(texts.names, 'name');
    else if (reader.field === EventField.category && !reader.isBytes)
      category ||= named(texts.categories, 'category');
    else if (!reader.isBytes) continue;
    else if (reader.field === EventField.nameText) name = reader.text;
    else if (reader.field === EventField.categoryText) category ||= reader.text;
    else if (reader.field === EventField.annotation) {
      const entry = annotation(bytes, reader.from, reader.to, texts, missing, 0);
      if (!entry) return undefined;
      args.set(entry.name, entry.json);
    }
  }
  if (reader.damaged) return undefined;
  if (category === '') spreadKineto(args);
  return { name, category: category || categoryOf(name, args), args };
}

/** Kineto's own writer (libkineto/src/PerfettoTraceBuilder.cpp) puts all arguments into one text, without braces. */
function spreadKineto(args: Map<string, string>): void {
  const metadata = args.get('metadata');
  const correlation = args.get('correlation_id');
  if (correlation !== undefined && !args.has('correlation')) args.set('correlation', correlation);
  if (metadata === undefined) return;
  try {
    const values = JSON.parse(`{${JSON.parse(metadata) as string}}`) as Record<string, unknown>;
    args.delete('metadata');
    for (const [name, value] of Object.entries(values)) args.set(name, JSON.stringify(value));
  } catch {
    // Whatever it is, it is not Kineto's.
  }
}

/** PyTorch left categories out at first, and leaves some out today: arguments tell what an event is. */
function categoryOf(name: string, args: ReadonlyMap<string, string>): string {
  if (args.has('cuda_sync_kind')) return 'cuda_sync';
  if (args.has('cbid')) return /^cu[A-Z]/.test(name) ? 'cuda_driver' : 'cuda_runtime';
  if (args.has('grid')) return 'kernel';
  if (args.has('Python id')) return 'python_function';
  if (/^Memcpy\b/.test(name)) return 'gpu_memcpy';
  if (/^Memset\b/.test(name)) return 'gpu_memset';
  if (args.has('External id')) return 'cpu_op';
  return '';
}

interface Entry {
  readonly name: string;
  readonly json: string;
}

function annotation(
  bytes: Uint8Array,
  from: number,
  to: number,
  texts: InternedTexts,
  missing: (what: string) => void,
  depth: number,
): Entry | undefined {
  if (depth > DEEPEST) return undefined;
  const reader = readers[depth].of(bytes, from, to);
  const items: string[] = [];
  const entries: string[] = [];
  let name = '';
  let json = 'null';
  const looked = (of: ReadonlyMap<number | string, string>) => {
    const text = of.get(reader.key);
    if (text === undefined) missing('argument');
    return text ?? '';
  };
  while (reader.next()) {
    switch (reader.field) {
      case AnnotationField.name:
        name = looked(texts.annotationNames);
        break;
      case AnnotationField.nameText:
        name = reader.text;
        break;
      case AnnotationField.bool:
        json = reader.low === 0 ? 'false' : 'true';
        break;
      case AnnotationField.int:
        json = String(reader.signed);
        break;
      case AnnotationField.uint:
      case AnnotationField.pointer:
        json = String(reader.whole);
        break;
      case AnnotationField.double:
        json = Number.isFinite(reader.double) ? String(reader.double) : 'null';
        break;
      case AnnotationField.text:
        json = JSON.stringify(reader.text);
        break;
      case AnnotationField.textInterned:
        json = JSON.stringify(looked(texts.annotationTexts));
        break;
      case AnnotationField.json:
        json = validJson(reader.text);
        break;
      case AnnotationField.item:
      case AnnotationField.entry: {
        const inner = annotation(bytes, reader.from, reader.to, texts, missing, depth + 1);
        if (!inner) return undefined;
        if (reader.field === AnnotationField.item) items.push(inner.json);
        else entries.push(`${JSON.stringify(inner.name)}:${inner.json}`);
        break;
      }
    }
  }
  if (reader.damaged) return undefined;
  if (items.length > 0) json = `[${items.join(',')}]`;
  else if (entries.length > 0) json = `{${entries.join(',')}}`;
  return { name, json };
}

function validJson(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

/** By the name of the stage it ran in, as PyTorch calls them. */
const stages: readonly [RegExp, category: string][] = [
  [/kernel|compute/i, 'kernel'],
  [/memcpy|copy/i, 'gpu_memcpy'],
  [/memset/i, 'gpu_memset'],
  [/annotation/i, 'gpu_user_annotation'],
];

/** Arguments of a stage that Kineto spells another way. */
const spelled: Readonly<Record<string, string>> = {
  'device id': 'device',
  'context id': 'context',
  'stream id': 'stream',
  registers_per_thread: 'registers per thread',
  shared_mem_dynamic: 'shared memory',
};

interface StageContent extends EventContent {
  readonly durationNs: number;
}

/** Work on a GPU, of traces that have stages for it. */
export function stageContent(
  bytes: Uint8Array,
  texts: InternedTexts,
  missing: (what: string) => void,
): StageContent | undefined {
  const reader = new MessageReader().of(bytes);
  const args = new Map<string, string>();
  let [durationNs, stage, name, kernel, queue, gpu] = [0, '', '', '', '', Number.NaN];
  const named = (of: ReadonlyMap<number | string, string>, what: string) => {
    const text = of.get(reader.key);
    if (text === undefined) missing(what);
    return text ?? '';
  };
  while (reader.next()) {
    if (reader.field === GpuStageField.duration) durationNs = reader.whole;
    else if (reader.field === GpuStageField.gpu) gpu = reader.signed;
    else if (reader.field === GpuStageField.queue) queue = named(texts.specifications, 'queue');
    else if (reader.field === GpuStageField.stage) stage = named(texts.specifications, 'stage');
    else if (reader.field === GpuStageField.kernel) kernel = named(texts.kernels, 'kernel');
    else if (reader.field === GpuStageField.name) name = named(texts.names, 'name');
    else if (!reader.isBytes) continue;
    else if (reader.field === GpuStageField.nameText) name ||= reader.text;
    else if (reader.field === GpuStageField.extra && !extra(bytes, reader.from, reader.to, args))
      return undefined;
    else if (
      reader.field === GpuStageField.launch &&
      !launch(bytes, reader.from, reader.to, args, texts, missing)
    )
      return undefined;
  }
  if (reader.damaged) return undefined;
  if (!args.has('device') && !Number.isNaN(gpu)) args.set('device', String(gpu));
  const lane = /stream (\d+)$/.exec(queue)?.[1] ?? /^\[(\d+)\]/.exec(queue)?.[1];
  if (!args.has('stream') && lane !== undefined) args.set('stream', String(Number(lane)));
  const category = stages.find(([pattern]) => pattern.test(stage))?.[1] ?? (kernel ? 'kernel' : 'gpu_stage');
  return { durationNs, name: kernel || name || stage, category, args };
}

function extra(bytes: Uint8Array, from: number, to: number, args: Map<string, string>): boolean {
  const reader = new MessageReader().of(bytes, from, to);
  let [name, value] = ['', ''];
  while (reader.next())
    if (reader.field === ExtraField.name && reader.isBytes) name = reader.text;
    else if (reader.field === ExtraField.value && reader.isBytes) value = reader.text;
  const isNumber = /^-?\d{1,15}(\.\d+)?$/.test(value);
  args.set(spelled[name] ?? name, isNumber ? value.replace(/^(-?)0+(?=\d)/, '$1') : JSON.stringify(value));
  return !reader.damaged;
}

function launch(
  bytes: Uint8Array,
  from: number,
  to: number,
  args: Map<string, string>,
  texts: InternedTexts,
  missing: (what: string) => void,
): boolean {
  const outer = new MessageReader().of(bytes, from, to);
  while (outer.next()) {
    if (!outer.isBytes) continue;
    const reader = new MessageReader().of(bytes, outer.from, outer.to);
    if (outer.field === LaunchField.argument) {
      let [name, value] = ['', ''];
      while (reader.next())
        if (reader.field === LaunchField.argumentName && !reader.isBytes) {
          name = texts.computeArguments.get(reader.key) ?? '';
          if (name === '') missing('argument');
        } else if (reader.field === LaunchField.uint && !reader.isBytes) value = String(reader.whole);
      if (name && value) args.set(spelled[name] ?? name, value);
    } else {
      const sizes = [0, 0, 0];
      while (reader.next()) if (reader.field <= 3 && !reader.isBytes) sizes[reader.field - 1] = reader.whole;
      if (outer.field === LaunchField.grid) args.set('grid', `[${sizes.join(',')}]`);
      if (outer.field === LaunchField.block) args.set('block', `[${sizes.join(',')}]`);
    }
    if (reader.damaged) return false;
  }
  return !outer.damaged;
}
