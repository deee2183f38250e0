/**
 * The YAML of a comparison, read node by node: every mistake is told with its line, column and text. Only maps, lists
 * and plain values are understood. Aliases and tags are refused and size and depth are bounded, so nothing can explode.
 */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import { closestWord } from '../../base/closest-word.js';
import { printable } from '../../base/printable.js';
import { UserError } from '../../base/user-error.js';

export const MOST_CONFIG_BYTES = 256_000;
const LONGEST_SHOWN = 80;
/** Far beyond what a comparison needs, far below what would fill the parser's stack. */
const MOST_BRACKETS = 2000;
const DEEPEST_INDENT = 80;

export interface Entry {
  readonly key: Node;
  readonly value: Node | null;
}

export class ConfigText {
  readonly root: Node | null;
  private readonly lines = new LineCounter();

  constructor(
    private readonly file: string,
    private readonly text: string,
  ) {
    if (text.length > MOST_CONFIG_BYTES)
      throw new UserError(
        'too-large',
        `${file} is larger than ${MOST_CONFIG_BYTES / 1000} kB, more than a list of frameworks should be.`,
        'Check that it is the right file; stepscope frameworks --init prints an example.',
      );
    this.refuseDepth();
    const document = parseDocument(text, {
      lineCounter: this.lines,
      prettyErrors: false,
      schema: 'core',
      uniqueKeys: true,
      strict: true,
    });
    const [first] = document.errors;
    if (first) {
      const said = first.message.split('\n')[0].replace(/\.$/, '');
      throw this.errorAt(first.pos[0], `this is no YAML: ${said.charAt(0).toLowerCase()}${said.slice(1)}`);
    }
    this.root = document.contents;
  }

  /** Two lines: where and what, then what to do and how the line reads. */
  error(node: Node | null | undefined, what: string, todo = ''): UserError {
    return this.errorAt(node?.range?.[0] ?? 0, what, todo);
  }

  private errorAt(offset: number, what: string, todo = ''): UserError {
    const { line, col } = this.lines.linePos(Math.min(offset, this.text.length));
    const row = Math.max(1, line);
    const source = printable((this.text.split(/\r?\n/)[row - 1] ?? '').trim()).slice(0, LONGEST_SHOWN);
    const reads = source === '' ? '' : `Line ${row} reads: ${source}`;
    return new UserError(
      'usage',
      `${this.file}:${row}:${Math.max(1, col)}: ${what}.`,
      [todo, reads].filter(part => part !== '').join(' ') || 'See: stepscope frameworks --init',
    );
  }

  entries(node: Node | null | undefined, what: string, known: readonly string[]): Map<string, Entry> {
    this.refuseTricks(node);
    if (!isMap(node)) throw this.error(node, `${what} must be a map of keys and values`, 'Write key: value.');
    const found = new Map<string, Entry>();
    for (const { key, value } of node.items as { key: Node; value: Node | null }[]) {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name)) {
        const meant = closestWord(name, known);
        throw this.error(
          key,
          `${what} has no key ${JSON.stringify(printable(name.slice(0, 60)))}`,
          meant ? `Did you mean ${JSON.stringify(meant)}?` : `It may have: ${known.join(', ')}.`,
        );
      }
      found.set(name, { key, value });
    }
    return found;
  }

  list(node: Node | null | undefined, key: Node | null, what: string, most: number): readonly Node[] {
    this.refuseTricks(node);
    if (!isSeq(node)) throw this.error(node ?? key, `${what} must be a list`, 'Begin each entry with "- ".');
    if (node.items.length > most) throw this.error(node, `${what} has more than ${most} entries`);
    return node.items as Node[];
  }

  /** A value as it was written: a name like 1.10 must not become 1.1. */
  word(node: Node | null | undefined, key: Node | null, what: string): string {
    this.refuseTricks(node);
    if (!isScalar(node) || node.value === null)
      throw this.error(
        node ?? key,
        `${what} must be one value`,
        'Write text, in quotes where it holds ": " or "#".',
      );
    const { value, source } = node as Scalar;
    const text = typeof value === 'string' ? value : (source ?? String(value));
    if (text.trim() === '') throw this.error(node, `${what} is empty`);
    return text.trim();
  }

  /** One value or a list of them. */
  words(node: Node | null | undefined, key: Node | null, what: string, most: number): Worded[] {
    if (isSeq(node))
      return this.list(node, key, what, most).map(item => ({
        node: item,
        text: this.word(item, node, what),
      }));
    return [{ node: node!, text: this.word(node, key, what) }];
  }

  private refuseTricks(node: Node | null | undefined): void {
    if (isAlias(node))
      throw this.error(node, 'aliases (*name) are not understood here', 'Write the value out.');
    if (node && 'tag' in node && node.tag !== undefined)
      throw this.error(
        node,
        `tags such as ${JSON.stringify(String(node.tag).slice(0, 40))} are not understood here`,
        'Write the bare value.',
      );
  }

  /** The parser calls itself for every level, so nesting is bounded on the bare text, before it is asked. */
  private refuseDepth(): void {
    let brackets = 0;
    this.text.split('\n').forEach((line, i) => {
      brackets += line.match(/[[{]/g)?.length ?? 0;
      const indent = /^[\s?:-]*/.exec(line)![0].length;
      if (brackets <= MOST_BRACKETS && indent <= DEEPEST_INDENT) return;
      throw new UserError(
        'usage',
        `${this.file}:${i + 1}:1: this is nested too deeply.`,
        'A comparison is a list of frameworks with plain values; stepscope frameworks --init prints one.',
      );
    });
  }
}

export interface Worded {
  readonly node: Node;
  readonly text: string;
}
