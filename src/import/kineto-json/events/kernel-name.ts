/**
 * The base name of a kernel, as Nsight Systems' short names have it:
 *
 *   void at::native::elementwise_kernel<128, (anonymous namespace)::F>(int, T3)   →   elementwise_kernel
 *
 * Names without parameters or template arguments (Triton, cuBLAS) stay as they are. Symbols too long for PyTorch's
 * demangler arrive mangled (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling):
 *
 *   _ZN7cutlass13device_kernelIN2at4cuda…   →   device_kernel
 */
const ANONYMOUS = '(anonymous namespace)';
const OPERATOR =
  /^operator *(\(\)|\[\]|<=>|->\*?|<<=?|>>=?|[-+*/%^&|~!=<>]=?|&&|\|\||\+\+|--|,|[a-zA-Z_][\w ]*)/;

export function shortKernelName(name: string): string {
  if (name.startsWith('_Z')) return lastSourceName(name) ?? name;
  if (!name.includes('(') && !name.endsWith('>')) return name;
  let start = 0;
  let nameEnd = -1;
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const character = name[i];
    if (depth === 0 && character === 'o' && (i === 0 || !isWord(name[i - 1]))) {
      const operator = OPERATOR.exec(name.slice(i, i + 64));
      if (operator) {
        i += operator[0].length - 1;
        continue;
      }
    }
    if (depth === 0 && character === '(') {
      if (name.startsWith(ANONYMOUS, i)) {
        i += ANONYMOUS.length - 1;
        continue;
      }
      const close = closing(name, i);
      if (!name.startsWith('::', close + 1)) return name.slice(start, nameEnd < 0 ? i : nameEnd) || name;
      // A function inside this one: f(int)::{lambda()#1}::operator()
      i = close;
    } else if (depth === 0 && (character === ' ' || name.startsWith('::', i))) {
      i += character === ' ' ? 0 : 1;
      start = i + 1;
      nameEnd = -1;
    } else if (character === '<' || character === '{' || (depth > 0 && character === '(')) {
      if (depth++ === 0 && character === '<') nameEnd = i;
    } else if (character === '>' || character === '}' || (depth > 0 && character === ')'))
      depth = Math.max(0, depth - 1);
  }
  return (name.endsWith('>') && nameEnd > start && name.slice(start, nameEnd)) || name;
}

/** Index of the parenthesis that closes the one at `open`; the end of the text when none does. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return text.length;
}

function isWord(character: string): boolean {
  return /\w/.test(character);
}

/** The last `<length><identifier>` of a mangled name's own path, before its template arguments or parameters. */
function lastSourceName(symbol: string): string | undefined {
  let at = symbol.startsWith('_ZN') ? 3 : 2;
  let last: string | undefined;
  while (at < symbol.length) {
    const length = /^\d{1,5}/.exec(symbol.slice(at, at + 5))?.[0];
    if (length === undefined) break;
    const start = at + length.length;
    const end = start + Number(length);
    if (end > symbol.length) return undefined;
    last = symbol.slice(start, end);
    at = end;
  }
  return last;
}
