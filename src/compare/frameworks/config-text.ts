/** The YAML of a comparison: the words and lists of words its keys hold. */
import { isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { type YamlKind, YamlText } from '../../base/yaml-text.js';

const comparisonYaml: YamlKind = {
  name: 'comparison',
  help: 'See: stepscope frameworks --init',
  aliases: 0,
};

interface Worded {
  readonly node: Node;
  readonly text: string;
}

export class ConfigText extends YamlText {
  constructor(file: string, text: string) {
    super(text, file, comparisonYaml);
  }

  items(node: Node | null | undefined, key: Node | null, what: string, most: number): readonly Node[] {
    const found = this.list(node ?? key, what);
    if (found.items.length > most) throw this.error(node, `${what} has more than ${most} entries`);
    return found.items;
  }

  /** A value as it was written: a name like 1.10 must not become 1.1. */
  word(node: Node | null | undefined, key: Node | null, what: string): string {
    const found = this.plain(node);
    if (!isScalar(found) || found.value === null)
      throw this.error(
        node ?? key,
        `${what} must be one value`,
        'Write text, quoted where it contains ": " or "#".',
      );
    const { value, source } = found as Scalar;
    const text = typeof value === 'string' ? value : (source ?? String(value));
    if (text.trim() === '') throw this.error(node, `${what} is empty`);
    return text.trim();
  }

  /** One value or a list of them. */
  words(node: Node | null | undefined, key: Node | null, what: string, most: number): Worded[] {
    if (isSeq(node))
      return this.items(node, key, what, most).map(item => ({
        node: item,
        text: this.word(item, node, what),
      }));
    return [{ node: node!, text: this.word(node, key, what) }];
  }
}
