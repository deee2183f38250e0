/**
 * A light reading of Itanium symbols (`_ZN7cutlass13device_kernelI…`), which profilers leave where demangling failed,
 * often cut short. It follows lengths and brackets, not the grammar: enough to tell the function's own identifiers
 * from those of its template arguments. Linear, and content with anything.
 */
interface MangledName {
  readonly qualified: string;
  /** Identifiers, numbers and the 16-bit float types inside template arguments, in order. */
  readonly inner: string;
}

export const isMangled = (text: string) => /^_{1,2}Z[NL0-9S]/.test(text);

const innerLimit = 8_000;

export function readMangled(symbol: string): MangledName | undefined {
  const path: string[] = [];
  const inner: string[] = [];
  let innerLength = 0;
  /** Open brackets: N nested name, I and J arguments, L literal, X expression, F function type. */
  const open: string[] = [];
  let at = symbol.indexOf('Z') + 1;
  const nested = symbol[at] === 'N';
  if (nested) at++;

  const keep = (text: string) => {
    if (open.length === 0) path.push(text);
    else if (innerLength < innerLimit) {
      inner.push(text);
      innerLength += text.length + 1;
    }
  };

  while (at < symbol.length) {
    const char = symbol[at];
    if (char >= '0' && char <= '9') {
      const digits = numberAt(symbol, at);
      // Inside a literal digits are its value; elsewhere they are the length of an identifier.
      if (open[open.length - 1] === 'L') {
        keep(digits);
        at += digits.length;
        continue;
      }
      const start = at + digits.length;
      const length = Number(digits);
      const text = symbol.slice(start, start + Math.min(length, 2_000));
      if (length === 0 || !/^\w/.test(text)) return path.length > 0 ? done() : undefined;
      if (!text.startsWith('_GLOBAL__N')) keep(text);
      at = start + length;
      // A name outside `N…E` ends at its template arguments or parameters.
      if (!nested && open.length === 0 && symbol[at] !== 'I') return done();
      continue;
    }
    if (char === 'S' || char === 'T') {
      // Substitutions and parameters: S_, S1A_, St, T_, T0_.
      at++;
      const from = at;
      while (at < symbol.length && at < from + 5 && /[0-9A-Z]/.test(symbol[at])) at++;
      if (symbol[at] === '_') at++;
      else at = from + (/[a-z]/.test(symbol[from] ?? '') ? 1 : 0);
      continue;
    }
    if (char === 'D') {
      if (symbol.startsWith('DF16b', at)) keep('bf16');
      else if (symbol.startsWith('DF16_', at)) keep('half');
      at += symbol.startsWith('DF16', at) ? 5 : 2;
      continue;
    }
    if (char === 'E') {
      if (open.length === 0) return done();
      open.pop();
      at++;
      if (open.length === 0 && !nested) return done();
      continue;
    }
    if ('NIJLX'.includes(char)) {
      // Internal linkage (`L` before a name) opens nothing.
      if (char === 'L' && open.length === 0) {
        at++;
        continue;
      }
      // `L_Z…E` is a function as an argument, not a value.
      open.push(symbol.startsWith('L_Z', at) ? 'X' : char);
    } else if (char === 'F' && open.length > 0) {
      open.push('F');
    } else if (char === 'f' && 'IJ'.includes(open[open.length - 1] ?? ' ')) {
      keep('float');
    }
    at++;
  }
  return done();

  function done(): MangledName | undefined {
    return path.length > 0 ? { qualified: path.join('::'), inner: inner.join(' ') } : undefined;
  }
}

/** At most nine digits: lengths beyond that are no lengths. */
function numberAt(text: string, from: number): string {
  let end = from;
  while (end < text.length && end < from + 9 && text[end] >= '0' && text[end] <= '9') end++;
  return text.slice(from, end);
}
