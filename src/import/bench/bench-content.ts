/**
 * The content of a benchmark file, seen three ways: JSON documents (one, or one per line, NaN and Infinity allowed),
 * dicts as Python prints them, one per line, or text. It is parsed once, for all importers.
 */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import { parsePythonLiteral } from '../../base/python-literal.js';
import { type LogLine, logLines } from './log-lines.js';

interface BenchDocument {
  readonly value: unknown;
  /** Line it stands on, or 1 for one that fills the file. */
  readonly line: number;
}

export class BenchContent {
  /**
   * `damaged`: begins like JSON or a dict, but cannot be read as such. It is no text either: an answer inside it may
   * quote any report.
   */
  readonly kind: 'documents' | 'text' | 'damaged';
  readonly documents: readonly BenchDocument[];
  /** One document fills the file. */
  readonly isWhole: boolean;
  /** Lines among the documents that are none: cut off, or of something else. */
  readonly unreadableLines: number;

  constructor(
    readonly file: string,
    readonly text: string,
  ) {
    const whole = wholeDocument(text);
    this.isWhole = whole !== undefined;
    if (whole !== undefined) {
      this.kind = 'documents';
      this.documents = [{ value: whole, line: 1 }];
      this.unreadableLines = 0;
      return;
    }
    const { documents, others } = lineDocuments(text);
    // A log may print a dict or two; a file of documents has at most a broken one among them.
    const isDocuments = documents.length > 0 && documents.length >= others;
    const isBroken = beginsLikeDocument(text) && documents[0]?.line !== 1;
    this.kind = isDocuments ? 'documents' : isBroken ? 'damaged' : 'text';
    this.documents = isDocuments ? documents : [];
    this.unreadableLines = others;
  }

  /** The documents that are objects. */
  get objects(): readonly { readonly value: JsonObject; readonly line: number }[] {
    return this.documents.filter((document): document is { value: JsonObject; line: number } =>
      isJsonObject(document.value),
    );
  }

  lines(): Iterable<LogLine> {
    return logLines(this.text);
  }
}

const beginsLikeDocument = (text: string) =>
  /^\s*(?:\{\s*(?:["'}]|$)|\[\s*(?:\{|$))/.test(text.slice(0, 1000));

function wholeDocument(text: string): unknown {
  const first = /\S/.exec(text.slice(0, 10_000))?.[0];
  if (first !== '{' && first !== '[') return undefined;
  const value = readDocument(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

function lineDocuments(text: string): { documents: BenchDocument[]; others: number } {
  const documents: BenchDocument[] = [];
  let others = 0;
  let line = 0;
  let from = 0;
  while (from < text.length) {
    const newline = text.indexOf('\n', from);
    const to = newline === -1 ? text.length : newline;
    line++;
    const trimmed = text.slice(from, to).trim();
    from = to + 1;
    if (trimmed === '') continue;
    const value = trimmed[0] === '{' && trimmed.endsWith('}') ? readDocument(trimmed) : undefined;
    if (isJsonObject(value)) documents.push({ value, line });
    else others++;
  }
  return { documents, others };
}

/** JSON the fast way; where Python left NaN, Infinity or single quotes, the careful way. Undefined for neither. */
export function readDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return parsePythonLiteral(text);
    } catch {
      return undefined;
    }
  }
}
