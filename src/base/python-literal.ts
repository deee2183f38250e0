/**
 * Reads one value as Python prints it: JSON, JSON with NaN and Infinity, or the repr of dicts, lists, tuples,
 * strings, numbers, True, False and None. Nothing is evaluated: what is not such a literal is refused.
 */

/** No log nests deeper; a stranger's file might, to exhaust the stack. */
const MOST_DEPTH = 64;

const words: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  nan: Number.NaN,
  NaN: Number.NaN,
  inf: Infinity,
  Infinity: Infinity,
};
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

class NotALiteral extends Error {}

export function parsePythonLiteral(text: string): unknown {
  const reader = new LiteralReader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

class LiteralReader {
  private at = 0;

  constructor(private readonly text: string) {}

  value(depth: number): unknown {
    if (depth > MOST_DEPTH) throw this.refuse('nested too deeply');
    this.skipSpace();
    const char = this.text[this.at];
    if (char === '{') return this.dict(depth);
    if (char === '[') return this.sequence(']', depth);
    if (char === '(') return this.sequence(')', depth);
    if (char === '"' || char === "'") return this.string(char);
    return this.numberOrWord();
  }

  end(): void {
    this.skipSpace();
    if (this.at < this.text.length) throw this.refuse('unexpected text after the value');
  }

  private dict(depth: number): Record<string, unknown> {
    // No prototype: a key named __proto__ is a key like any other.
    const result = Object.create(null) as Record<string, unknown>;
    this.at++;
    while (!this.took('}')) {
      const key = this.value(depth + 1);
      if (typeof key === 'object') throw this.refuse('a key that is not a single value');
      this.need(':');
      result[String(key)] = this.value(depth + 1);
      if (!this.took(',')) {
        this.need('}');
        break;
      }
    }
    return result;
  }

  private sequence(close: string, depth: number): unknown[] {
    const result: unknown[] = [];
    this.at++;
    while (!this.took(close)) {
      result.push(this.value(depth + 1));
      if (!this.took(',')) {
        this.need(close);
        break;
      }
    }
    return result;
  }

  private string(quote: string): string {
    let result = '';
    let from = ++this.at;
    while (true) {
      const char = this.text[this.at];
      if (char === undefined) throw this.refuse('an unterminated string');
      if (char === quote) break;
      this.at++;
      if (char !== '\\') continue;
      result += this.text.slice(from, this.at - 1) + this.escape();
      from = this.at;
    }
    result += this.text.slice(from, this.at++);
    return result;
  }

  private escape(): string {
    const char = this.text[this.at++];
    const digits = char === 'x' ? 2 : char === 'u' ? 4 : char === 'U' ? 8 : 0;
    if (digits === 0) return escapes[char] ?? char ?? '';
    const hex = this.text.slice(this.at, this.at + digits);
    if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length < digits) throw this.refuse('an invalid escape');
    this.at += digits;
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
  }

  private numberOrWord(): unknown {
    const token = /[-+]?[A-Za-z0-9_.]+(?:(?<=[eE])[-+]\d+)?/y;
    token.lastIndex = this.at;
    const found = token.exec(this.text)?.[0];
    if (found === undefined) throw this.refuse('missing value');
    this.at += found.length;
    const bare = found.replace(/^[-+]/, '');
    if (Object.hasOwn(words, bare)) {
      const word = words[bare];
      return found[0] === '-' && typeof word === 'number' ? -word : word;
    }
    if (!/^\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$|^\.\d+$/.test(bare)) throw this.refuse('missing value');
    return Number(found);
  }

  private took(char: string): boolean {
    this.skipSpace();
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private need(char: string): void {
    if (!this.took(char)) throw this.refuse(`missing ${char}`);
  }

  private skipSpace(): void {
    while (true) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return;
      this.at++;
    }
  }

  private refuse(what: string): NotALiteral {
    return new NotALiteral(`${what} at ${this.at}`);
  }
}
