/**
 * How events of host threads are named where many of them are added up: instance numbers, addresses and folders go, what
 * only passes calls on is left out, and what waits for somebody else is marked. Names are those that profilers write.
 */
import {
  activityOf,
  BLOCKING_CALL,
  functionOfFrame,
  GIL_HOLD,
  GIL_WAIT,
  SLEEPING_CALL,
} from './host-activities.js';
import { markedOperator } from './operator-ranges.js';
import { fileInPackage } from './python-files.js';

/** How a name was learned; the order is that of a stack, outermost first. */
export const hostNameKinds = [
  'range',
  'function',
  'operator',
  'api-call',
  'os-call',
  /** A native function on a recorded stack. */
  'native',
  /** What the Python interpreter does on its own: it collects garbage, or waits for the GIL. */
  'interpreter',
  /** Nothing was recorded: the place between two recorded events. */
  'between',
  /** After a launch call returned, until its work starts. */
  'latency',
  /** The thread could have run, or stopped for an unknown reason, and had no CPU. */
  'no-cpu',
  /** What another thread did while this one waited. */
  'thread',
] as const;
export type HostNameKind = (typeof hostNameKinds)[number];

/** What a thread waits for: the GIL, another thread or process, a CPU, or only for time to pass. */
export type Wait = 'gil' | 'other' | 'cpu' | 'time';

export interface HostName {
  readonly text: string;
  readonly kind: HostNameKind;
  /** Of a Python function: its file inside its package, and the line (`vllm/v1/engine/core.py:479`). */
  readonly file?: string;
  /** Class of the module, where the event is the call of one (`LlamaAttention`). */
  readonly module?: string;
  /** The thread waits in it: for a lock, a queue, another process. */
  readonly waits?: Wait;
  /** A function without Python code of its own (`Tensor.item`): says what, not where. */
  readonly isBuiltIn?: true;
  /** Says little about the code: a library whose function is not known, a place that only a CUDA or OS call follows. */
  readonly isVague?: true;
  /** `forward` of the module whose call it is part of: both are one. */
  readonly isForward?: true;
}

/** Functions that only pass a call on, and operations too small to hold anything up: their time is their caller's. */
const passedOn: readonly { readonly pattern: RegExp; readonly source: string }[] = [
  {
    pattern: /^torch\/nn\/modules\/module\.py\(\d+\): (_wrapped_call_impl|_call_impl|_slow_forward)$/,
    source: 'torch.nn.Module.__call__',
  },
  { pattern: /^torch\/_ops\.py\(\d+\): __call__$|^torch\/_library\//, source: 'torch.ops' },
  {
    pattern:
      /: (decorate_context|_fn|\w*wrapper\w*|wrapped|inner|decorate_autocast|__torch_function__|__torch_dispatch__|<genexpr>|<lambda>|<listcomp>|<dictcomp>|<setcomp>)$/,
    source: 'decorators and comprehensions',
  },
  {
    pattern:
      /: __(getattr|getattribute|get|set|setattr|getitem|setitem|instancecheck|enter|exit|hash|eq|new|len)__$/,
    source: 'Python data model',
  },
  {
    pattern: /^<frozen |^(typing|contextlib|dataclasses|enum|abc|functools)\.py\(/,
    source: 'Python library',
  },
  {
    pattern:
      /^<built-in (function (isinstance|issubclass|getattr|setattr|hasattr|len|min|max|hash|next|iter|sorted|callable|id|repr|sum|any|all|_?has_torch_function\w*|_get_tracing_state)|method \w+ of (list|dict|str|set|tuple|frozenset|bytes|mappingproxy|type|collections\.\w+|pybind11_builtins\S*|PyCapsule) object)/,
    source: 'built-in functions, and methods of built-in types',
  },
  {
    pattern: /(^|\/)stepscope_agent\//,
    source: 'the agent stands around functions of the engine: their time is not its own',
  },
];

/** Python functions that wait for something that is not the GPU. */
const WAITING_FRAME =
  /\bthreading\.py\(\d+\): (wait|join|acquire|_wait_for_tstate_lock)$|\bqueue\.py\(\d+\): get$|^<built-in method (acquire|wait) of _?(thread|multiprocessing)?\S*([Ll]ock|Semaphore|Event|Condition)\b|^zmq\/.*\b(recv|recv_\w+|poll|_recv_copy)$|\bselectors\.py\(\d+\): select$|\bmultiprocessing\/\w+\.py\(\d+\): (recv|recv_bytes|_recv|_recv_bytes|poll|wait|get)$|^<built-in (method poll of select\.|function select>)|shm_broadcast\.py\(\d+\): (acquire_read|dequeue)$|^<built-in method run_backward of /;

const MODULE = /^nn\.Module: (.+?)(?:_\d+)?$/;
const BUILT_IN_METHOD = /^<built-in method (\w+) of (?:\w+\.)*(\w+) object/;
const BUILT_IN_FUNCTION = /^<built-in function (\w+)>/;
const FRAME = /^(.*\.py)\((\d+)\): (.*)$/;

const isCollection = (text: string) => activityOf(text) === 'garbage-collection';

/** A Python frame; undefined: its time is its caller's. */
export function nameOfFrame(text: string): HostName | undefined {
  const module = MODULE.exec(text)?.[1];
  if (module !== undefined) return { text: `${module}.forward`, kind: 'function', module };
  if (isCollection(functionOfFrame(text))) return { text: 'gc.collect', kind: 'interpreter' };
  if (passedOn.some(({ pattern }) => pattern.test(text))) return undefined;
  const waits = WAITING_FRAME.test(text) ? { waits: 'other' as const } : {};
  const method = BUILT_IN_METHOD.exec(text);
  if (method) return { text: `${method[2]}.${method[1]}`, kind: 'function', isBuiltIn: true, ...waits };
  const builtIn = BUILT_IN_FUNCTION.exec(text);
  if (builtIn) return { text: builtIn[1], kind: 'function', isBuiltIn: true, ...waits };
  const frame = FRAME.exec(text);
  if (!frame) return { text: withoutAddress(text), kind: 'function', ...waits };
  const [, file, line, name] = frame;
  return {
    text: `${name} (${shortFile(file)}:${line})`,
    kind: 'function',
    file: `${fileInPackage(file)}:${line}`,
    ...(functionOfFrame(text) === 'forward' ? { isForward: true as const } : {}),
    ...waits,
  };
}

/** The same without the line. */
export function nameOfFunction(text: string): HostName | undefined {
  const name = nameOfFrame(text);
  if (!name?.file) return name;
  const withoutLine = (place: string) => place.replace(/:\d+(?=\)?$)/, '');
  return { ...name, text: withoutLine(name.text), file: withoutLine(name.file) };
}

/** The file's own name; that of a package is in its folder. */
const shortFile = (file: string) =>
  /[^/]+\/__init__\.py$/.exec(file)?.[0] ?? file.slice(file.lastIndexOf('/') + 1);

const withoutAddress = (text: string) => text.replace(/ (object )?at 0x[0-9a-f]+/g, '');

/** What PyTorch adds to the names of ranges that it emits itself: `aten::mul, op_id = 12`. */
const EMITTED = /, (?:op_id|seq) = .*$/s;
/** Numbers that tell instances apart; those inside words (`bf16`, `c10d`) belong to the name. */
const INSTANCE_NUMBER = /(?<![A-Za-z0-9])\d+(?![A-Za-z0-9])/g;

/** A range; undefined: it says nothing about the code (who holds the GIL). */
export function nameOfRange(text: string): HostName | undefined {
  if (text === GIL_HOLD || text === '') return undefined;
  if (text === GIL_WAIT) return { text, kind: 'interpreter', waits: 'gil' };
  // Generations of a collection are not instances of one.
  if (isCollection(text)) return { text, kind: 'interpreter' };
  const operator = EMITTED.test(text) ? markedOperator(text) : undefined;
  if (operator) return { text: operator.name, kind: 'operator' };
  return { text: text.replace(EMITTED, '').replace(INSTANCE_NUMBER, '*'), kind: 'range' };
}

/** Inductor's calls of what it compiled, by the hash of their code. */
const COMPILED_CALL = /^## Call CompiledFxGraph \w+ ##$/;

export const nameOfOperator = (text: string): HostName => ({
  text: COMPILED_CALL.test(text) ? 'CompiledFxGraph' : text,
  kind: 'operator',
});

/** The name of a call in which a thread waits for the interpreter lock. */
export const onGil = (call: string): string => `${call} (the GIL)`;

/** `isGil`: its calls of this name are waits for the interpreter lock. */
export const nameOfOsCall = (text: string, isGil = false): HostName =>
  isGil
    ? { text: onGil(text), kind: 'os-call', waits: 'gil' }
    : {
        text,
        kind: 'os-call',
        ...(BLOCKING_CALL.test(text)
          ? { waits: SLEEPING_CALL.test(text) ? ('time' as const) : ('other' as const) }
          : {}),
      };

/** Calls that only ask, prepare or wake somebody: they say nothing about the code around them. */
const ASKING =
  /^(?:cuda|cu|hip)\w*?(?:Get|IsCapturing|Query|Peek|SetAttribute|SetDevice|Encode|ExchangeStreamCaptureMode|RecordWithFlags|EventRecord|EventCreate|EventDestroy)|^(?:pthread_cond_(?:signal|broadcast)|sem_post|sched_yield)$/;
export const isAskingCall = (name: string): boolean => ASKING.test(name);
