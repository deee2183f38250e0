/**
 * Finds the function in a kernel name: demangled C++ with return type, namespaces, templates and parameters, an
 * Itanium symbol, or a plain name. Rules read `qualified`; template arguments are kept apart because they name what a
 * kernel was built from, not what it does. One pass, any input: names come from files we do not control.
 */
import { isMangled, readMangled } from './mangled-name.js';
import { withoutConditionalReturn } from './return-type.js';

export interface FunctionName {
  /** Namespaces and function, without template arguments, parameters, return type and anonymous namespaces. */
  readonly qualified: string;
  /** The last part of `qualified`. */
  readonly base: string;
  /** What stood between the outermost template brackets; for Itanium symbols, the identifiers in them. */
  readonly templateText: string;
}

/** Longer names are not more telling, and regular expressions should meet bounded input. */
const qualifiedLimit = 1_000;
const templateLimit = 8_000;

const anonymous = ['(anonymous namespace)', '<unnamed>', '(unnamed)', '{anonymous}'];
const closers: Readonly<Record<string, string>> = { '<': '>', '(': ')', '[': ']', '{': '}' };

export function parseFunctionName(name: string): FunctionName {
  const text = name.trim();
  // Profilers list transfers under these names among kernels; they are no C++.
  if (/^\[?(?:CUDA )?mem(?:cpy|set)\b/i.test(text)) {
    const end = text.search(/[(\]]/);
    return finish(text.slice(text[0] === '[' ? 1 : 0, end < 0 ? text.length : end).trim(), '');
  }
  if (isMangled(text)) {
    const symbol = readMangled(text);
    if (symbol) return finish(symbol.qualified, symbol.inner);
  }
  return readDemangled(withoutConditionalReturn(text));
}

function finish(qualified: string, templateText: string): FunctionName {
  const clean = qualified.replace(/\.kd$/, '').slice(0, qualifiedLimit);
  return {
    qualified: clean,
    base: clean.slice(clean.lastIndexOf('::') + 1).replace(/^:/, ''),
    templateText: templateText.slice(0, templateLimit),
  };
}

function readDemangled(text: string): FunctionName {
  /** Closing brackets waited for, and how many of each kind, so that a stray one costs nothing. */
  const waiting: string[] = [];
  const open: Record<string, number> = { '>': 0, ')': 0, ']': 0, '}': 0 };
  let qualified = '';
  let template = '';
  let at = 0;
  const leaveTo = (closer: string) => {
    while (waiting.length > 0) {
      const top = waiting.pop()!;
      open[top]--;
      if (top === closer) return;
    }
  };

  for (; at < text.length; at++) {
    const char = text[at];
    const outside = waiting.length === 0;
    if (char === 'o' && text.startsWith('operator', at) && !isWord(text[at - 1])) {
      const end = endOfOperator(text, at + 8);
      if (outside) qualified += text.slice(at, end);
      else if (template.length < templateLimit) template += text.slice(at, end);
      at = end - 1;
      continue;
    }
    if (outside) {
      const hidden = anonymousAt(text, at);
      if (hidden) {
        at += hidden.length - 1;
        if (text.startsWith('::', at + 1)) at += 2;
        continue;
      }
      // What came before a space was a return type or a qualifier such as `static`.
      if (char === ' ') {
        const next = text[at + 1];
        if ((next === '(' || next === '[') && !anonymousAt(text, at + 1)) break;
        qualified = '';
        template = '';
        continue;
      }
      if (char === '(' || char === '[') break;
      if (char === '<' || char === '{') {
        waiting.push(closers[char]);
        open[closers[char]]++;
        if (template) template += ' ';
        continue;
      }
      qualified += char;
      continue;
    }
    if (closers[char]) {
      waiting.push(closers[char]);
      open[closers[char]]++;
    } else if (open[char] > 0) {
      // `a > b` inside parentheses and `->` close nothing.
      if (char !== '>' || (waiting[waiting.length - 1] === '>' && text[at - 1] !== '-')) leaveTo(char);
    }
    if (waiting.length > 0 && template.length < templateLimit) template += char;
  }
  const parts = qualified.slice(0, qualifiedLimit).split('::');
  return finish(parts.filter(part => part !== '').join('::'), template);
}

const anonymousAt = (text: string, at: number) => anonymous.find(word => text.startsWith(word, at));
const isWord = (char: string | undefined) => char !== undefined && /\w/.test(char);

/** `operator()`, `operator<`, `operator->` … : the symbols belong to the name. */
function endOfOperator(text: string, from: number): number {
  if (text.startsWith('()', from)) return from + 2;
  let end = from;
  while (end < text.length && end < from + 3 && '<>=!+-*/&|^%~'.includes(text[end])) end++;
  // `operator<<int>` is `operator<` with an argument; telling it from `operator<<` does not matter here.
  return end;
}
