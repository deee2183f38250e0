/** Reads number type, tile, architecture and library from a kernel's full name, and remembers what gave each. */
import {
  type AttributePattern,
  architectures,
  libraries,
  nameTypes,
  spelledTypes,
  tiles,
  typeOf,
} from './attribute-patterns.js';
import type { FunctionName } from './function-name.js';

export interface Attribute {
  readonly value: string;
  /** The part of the name that gave it. */
  readonly because: string;
}

export interface KernelAttributes {
  readonly dtype?: Attribute;
  readonly tile?: Attribute;
  readonly arch?: Attribute;
  readonly library?: Attribute;
}

/** Templates repeat themselves; what counts stands near the front. */
const textLimit = 8_000;
/** CUTLASS 2 kernels are named by their single argument. */
const carrier = /(?:^|::)(?:Kernel2?|device_kernel)$/;
const carried = /cutlass\w*_\w*(?:tensorop|simt)_\w+/;

export function readAttributes(name: string, { qualified, templateText }: FunctionName): KernelAttributes {
  const inner = carried.exec(templateText.slice(0, 300))?.[0] ?? '';
  const whole = `${qualified} ${inner} ${templateText.slice(0, textLimit)}`;
  return {
    dtype:
      first(nameTypes, qualified) ??
      first(nameTypes, inner) ??
      first(spelledTypes, templateText) ??
      parameterType(name, qualified),
    tile: first(tiles, qualified) ?? first(tiles, inner) ?? first(tiles, templateText),
    arch: first(architectures, whole),
    library: libraryOf(qualified, inner || templateText.slice(0, 500)),
  };
}

/** CUTLASS is a toolkit: where its entry point was built into another library, that one is named. */
function libraryOf(qualified: string, carriedText: string): Attribute | undefined {
  const own = first(libraries, qualified);
  if (!carrier.test(qualified) || (own && own.value !== 'CUTLASS')) return own;
  return first(libraries, carriedText) ?? own;
}

/** Parameters tell the type only where they agree and no `void*` hides the payload. */
function parameterType(name: string, qualified: string): Attribute | undefined {
  const from = name.indexOf('(', name.indexOf(qualified) + qualified.length);
  if (from < 0) return undefined;
  const text = name.slice(from, from + textLimit);
  if (/void(?: const)? ?\*/.test(text)) return undefined;
  const found = first(spelledTypes, text);
  if (!found) return undefined;
  for (const [, word] of text.matchAll(/(\w+?)(?: const)? ?\*/g)) {
    const type = typeOf(word);
    if (type && type !== found.value && !/^(?:int\d\d|bool)$/.test(type)) return undefined;
  }
  return found;
}

function first(patterns: readonly AttributePattern[], text: string): Attribute | undefined {
  if (text === '') return undefined;
  for (const { pattern, value } of patterns) {
    const match = pattern.exec(text);
    if (!match) continue;
    const found = typeof value === 'string' ? value.replace('$1', match[1] ?? '') : value(match);
    // A pattern that recognizes a naming scheme but not this code ends the search: no other scheme applies.
    return found === undefined ? undefined : { value: found, because: match[0].slice(0, 80) };
  }
  return undefined;
}
