/**
 * One spelling of a kernel's name, so that the same kernel is the same whoever demangled it:
 *
 *   nsys     void at::native::f<(int)128, void g<T>(A &, const T1 &)::[lambda(int) (instance 1)]>(int, T3)
 *   Kineto   void at::native::f<128, g<T>(A&, T const&)::{lambda(int)#1}>(int, g<T>(A&, T const&)::{lambda(int)#1})
 *   both     at::native::f<128,g<T>::{lambda#1}>
 *
 * Parameters go (nsys writes them as T1, T2 …), template arguments stay: they tell instances apart. One pass over
 * bounded text; what cannot be read stays as it is.
 */

import { withoutConditionalReturn } from './return-type.js';

/** Names beyond this are compared by their beginning and their length. */
const LONGEST = 20_000;

export function canonicalKernelName(name: string): string {
  const text = name.length > LONGEST ? `${name.slice(0, LONGEST)}#${name.length}` : name.trim();
  // Symbols and plain names (cuBLAS, Triton) have one spelling.
  if (!/[(<]/.test(text)) return text;
  const marked = withoutConditionalReturn(text)
    .replace(/<unnamed>::|\(anonymous namespace\)::|\{anonymous\}::|\(unnamed\)::/g, '')
    .replace(/operator ?\(\)/g, 'operator·')
    .replace(/\(bool\)1\b/g, 'true')
    .replace(/\(bool\)0\b/g, 'false')
    .replace(/\((?:unsigned |signed )?(?:int|long|short|char|long long|unsigned)\)(?=-?\d)/g, '')
    .replace(/\b(\d+)(?:ul|u|l|ull|ll)\b/gi, '$1');
  return (
    withoutGroups(marked)
      .replace(/\[lambda ?instance (\d+)\]/g, '{lambda#$1}')
      .replace(/\b(?:const|static)\b(?=[ :&*>,<]|$)/g, ' ')
      // What a function returns stands before it in one spelling only.
      .replace(/\b(?:void|bool|int|float|double|auto) +(?=[A-Za-z_])/g, ' ')
      .replace(/\s+/g, '')
      .replaceAll('operator·', 'operator()')
  );
}

/** Without parameter lists, but with what `(instance 2)` and `(cutlass::Enum)3` say. */
function withoutGroups(text: string): string {
  let kept = '';
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '(') {
      if (depth++ === 0) begin = at;
    } else if (char === ')' && depth > 0) {
      if (--depth > 0) continue;
      const inside = text.slice(begin + 1, at);
      if (/^instance \d+$/.test(inside)) kept += inside;
      else if (/^-?\d/.test(text.slice(at + 1, at + 3))) kept += `(${inside})`;
    } else if (depth === 0) kept += char;
  }
  return kept;
}
