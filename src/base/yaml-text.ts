/**
 * YAML written by people, read node by node so that every mistake is told with its line, column and text. Only maps,
 * lists and plain values. No tags, few aliases or none, bounded size; nothing is expanded, so nothing can explode.
 */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { closestWord } from './closest-word.js';
import { printable } from './printable.js';
import { UserError } from './user-error.js';

export const MOST_YAML_BYTES = 256_000;
const LONGEST_SHOWN = 80;
/** Deeper than anything people write by hand; far below what would fill the stack. */
const DEEPEST = 40;
const MOST_BRACKETS = 1000;

/** What the text is meant to be, for messages. */
export interface YamlKind {
  /** `policy` */
  readonly name: string;
  /** Where the reader finds out how to write one. */
  readonly help: string;
  /** Aliases that are followed. */
  readonly aliases: number;
}

export interface YamlEntry {
  readonly key: Node;
  readonly value: Node | null;
}

export class YamlText {
  private readonly lines = new LineCounter();
  private readonly document: Document.Parsed;
  private aliases = 0;

  constructor(
    private readonly text: string,
    private readonly file: string,
    private readonly kind: YamlKind,
  ) {
    if (text.length > MOST_YAML_BYTES)
      throw new UserError(
        'too-large',
        `${file} is too large for a ${kind.name}: more than ${MOST_YAML_BYTES / 1000} kB.`,
        'Check that it is the right file.',
      );
    this.refuseDepth();
    this.document = parseDocument(text, {
      lineCounter: this.lines,
      prettyErrors: false,
      schema: 'core',
      uniqueKeys: true,
      strict: true,
    });
    const [first] = this.document.errors;
    if (first?.code === 'MULTIPLE_DOCS') throw this.errorAt(first.pos[0], 'a second document starts here');
    if (first) {
      const said = lowerFirst(first.message.split('\n')[0].replace(/\.$/, ''));
      throw this.errorAt(first.pos[0], `this is not valid YAML: ${said}`);
    }
  }

  get root(): Node | null {
    return this.document.contents;
  }

  lineOf(node: Node): number {
    return this.lines.linePos(node.range?.[0] ?? 0).line;
  }

  /** Where a node is wrong, what is wrong, what to do. Two lines, the second shows the line of the file. */
  error(node: Node | null | undefined, what: string, advice = ''): UserError {
    return this.errorAt(node?.range?.[0] ?? 0, what, advice);
  }

  private errorAt(offset: number, what: string, advice = ''): UserError {
    const { line, col } = this.lines.linePos(Math.min(offset, this.text.length));
    const shown = printable((this.text.split(/\r?\n/)[Math.max(0, line - 1)] ?? '').trim()).slice(
      0,
      LONGEST_SHOWN,
    );
    const reads = shown === '' ? '' : `Line ${line} reads: ${shown}`;
    return new UserError(
      'usage',
      `${this.file}:${Math.max(1, line)}:${Math.max(1, col)}: ${what}.`,
      [advice, reads].filter(part => part !== '').join(' ') || this.kind.help,
    );
  }

  map(node: Node | null | undefined, what: string): YAMLMap<Node, Node | null> {
    const found = this.plain(node);
    if (isMap(found)) return found as YAMLMap<Node, Node | null>;
    throw this.error(node, `${what} must be a map of keys and values`, 'Write key: value.');
  }

  list(node: Node | null | undefined, what: string): YAMLSeq<Node> {
    const found = this.plain(node);
    if (isSeq(found)) return found as YAMLSeq<Node>;
    throw this.error(node, `${what} must be a list`, 'Start each entry with "- ".');
  }

  /** A value as it was written. */
  scalar(node: Node | null | undefined, key: Node, name: string): string {
    const found = this.plain(node);
    if (!isScalar(found)) throw this.error(node ?? key, `${JSON.stringify(name)} must be one value`);
    const { value, source } = found as Scalar;
    if (value === null) throw this.error(key, `${JSON.stringify(name)} has no value`);
    return (source ?? String(value)).trim();
  }

  /** The entries of a map, keys checked against those known. */
  entries(node: Node | null | undefined, what: string, known: readonly string[]): Map<string, YamlEntry> {
    const found = new Map<string, YamlEntry>();
    for (const { key, value } of this.map(node, what).items) {
      const name = isScalar(key) ? String(key.value) : '';
      if (!known.includes(name)) {
        const meant = closestWord(name, known);
        const advice = meant
          ? `Did you mean ${JSON.stringify(meant)}?`
          : `Allowed keys: ${known.join(', ')}.`;
        throw this.error(
          key,
          `${what} has an unknown key ${JSON.stringify(printable(name.slice(0, 60)))}`,
          advice,
        );
      }
      found.set(name, { key, value });
    }
    return found;
  }

  /** Follows an alias to what it stands for, a bounded number of times; tags are not understood. */
  protected plain(node: Node | null | undefined): Node | null | undefined {
    let found = node;
    if (isAlias(found)) {
      const { aliases } = this.kind;
      if (++this.aliases > aliases)
        throw this.error(
          node,
          aliases > 0 ? `more than ${aliases} aliases` : 'aliases (*name) are not supported',
          'Write the value itself.',
        );
      found = found.resolve(this.document);
      if (!found || isAlias(found)) throw this.error(node, 'this alias is undefined');
    }
    if (found && 'tag' in found && found.tag !== undefined)
      throw this.error(
        node,
        `tags such as ${JSON.stringify(String(found.tag).slice(0, 40))} are not supported`,
        'Write the plain value.',
      );
    return found;
  }

  /**
   * The parser calls itself for every level and builds patterns as long as the indentation: nested without end it fills
   * the stack or the memory. Counted on the bare text, so that no trick with comments or quotes gets around it.
   */
  private refuseDepth(): void {
    let brackets = 0;
    this.text.split('\n').forEach((line, i) => {
      brackets += line.match(/[[{]/g)?.length ?? 0;
      const indent = /^[\s?:-]*/.exec(line)![0].length;
      const compact = line.trimStart().startsWith('#') ? 0 : (line.match(/[?:-](?=\s)/g)?.length ?? 0);
      if (brackets <= MOST_BRACKETS && indent <= 3 * DEEPEST && compact <= DEEPEST) return;
      throw new UserError(
        'usage',
        `${this.file}:${i + 1}:1: this is nested too deeply for a ${this.kind.name}.`,
        `Use plain values in a map or a list. ${this.kind.help}`,
      );
    });
  }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
