/**
 * Copies of the small files around a profile: benchmark results and logs, files of the agent, recipes, baselines. They
 * are read whole; of documents the fields that importers read are kept, of logs the words of the tools and all numbers.
 */
import { createHash } from 'node:crypto';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { BenchContent, readDocument } from '../import/bench/bench-content.js';
import { benchImporterFor } from '../import/bench/index.js';
import type { ProfileFile } from '../import/profile-file.js';
import { readServerLog } from '../import/server-log.js';
import { Identities } from './identities.js';
import { isKnownField, knownWords } from './known-document-words.js';
import { isMoment, isPlain, isVersion } from './known-values.js';
import type { ByteSink } from './output-file.js';
import { scrubName } from './range-names.js';
import type { RedactSettings } from './redact-nsys.js';
import type { Removals } from './removals.js';

const MOST_BYTES = 192 * 1024 * 1024;

/** Which model, GPU or server it was is private as often as not; whether it was the same one is needed to compare and sum. */
const MODEL_KEY =
  /^(?:model|model_id|model_path|model_names|models|tokenizer_id|gpu_uuid|endpoint_url|request_id)$/;
/** The same in a log: `Model:  name`, `model='name'`. */
const MODEL_LABEL = /(\b[Mm]odel(?:_id|_path| Path)?(?:=|:[ \t]+)['"]?)([^\s'",)]+)/;
/** As JSON quotes its keys; a dict that Python printed is text. */
const BEGINS_LIKE_JSON = /^\s*(?:\{\s*"|\[\s*\{\s*")/;
/** Paths of modules name the layers of a model, which analyses read. */
const MODULE_KEY = /^(?:name|patched|stepsFrom|module)$/;

export async function redactDocument(
  file: ProfileFile,
  out: ByteSink,
  { removals }: RedactSettings,
): Promise<void> {
  const text = await wholeText(file);
  const rules = new DocumentRules(new Identities(), removals);
  const content = new BenchContent(file.name, text);
  const isOurs = content.documents.some(({ value }) => isOwnDocument(value));
  if (!isOurs && !isBenchmark(content) && !readServerLog(text))
    throw new UserError(
      'not-a-profile',
      `${file.name} is not a profile, a benchmark result or a Stepscope file.`,
      'redact accepts nsys exports, PyTorch traces, benchmark results and logs, agent files, recipes and baselines.',
    );
  const isJson = content.isWhole && BEGINS_LIKE_JSON.test(text);
  const copy = isJson ? `${toJson(rules.document(content.documents[0].value))}\n` : rules.lines(text);
  await out.write(Buffer.from(copy));
}

function isBenchmark(content: BenchContent): boolean {
  try {
    benchImporterFor(content);
    return true;
  } catch {
    return false;
  }
}

async function wholeText(file: ProfileFile): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of file.borrowedChunks()) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES)
      throw new UserError(
        'too-large',
        `${file.name} is larger than any benchmark result (${formatBytes(MOST_BYTES)}).`,
        'Give the result or the log of one run.',
      );
    parts.push(Uint8Array.from(chunk));
  }
  return Buffer.concat(parts).toString('utf8');
}

/** The file of the agent, and documents this project writes. */
function isOwnDocument(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { schema } = value as Record<string, unknown>;
  return 'stepscopeAgent' in value || (typeof schema === 'string' && schema.startsWith('stepscope-'));
}

/** Whole numbers of more digits than a double keeps, such as nanoseconds since 1970, are carried as text with this mark. */
const EXACT = '\u0000exact ';
const EXACT_TEXT = new RegExp(`^${EXACT}-?\\d{16,20}$`);

/** Where a text only looks as if it held such a number, the document is read as it is. */
function exactDocument(line: string): unknown {
  const marked = line.replace(/([:,[]\s*)(-?\d{16,20})(?=\s*[,\]}])/g, '$1"\\u0000exact $2"');
  return (marked === line ? undefined : readDocument(marked)) ?? readDocument(line);
}

/** With NaN and Infinity as Python writes them: `JSON.stringify` would turn them into null. */
function toJson(value: unknown): string {
  if (typeof value === 'string' && EXACT_TEXT.test(value)) return value.slice(EXACT.length);
  if (typeof value === 'number') return Number.isFinite(value) ? JSON.stringify(value) : String(value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${toJson(inner)}`)
    .join(',')}}`;
}

class DocumentRules {
  constructor(
    private readonly identities: Identities,
    private readonly removals: Removals,
  ) {}

  /** Logs, and files with a document on each line. Lines keep their numbers, so that places can still be named. */
  lines(text: string): string {
    return text.replace(/[^\r\n]+/g, line => {
      const value = BEGINS_LIKE_JSON.test(line) ? exactDocument(line) : undefined;
      // A dict as Python prints it, or a piece of a document: words, like the rest.
      return value === undefined ? this.line(line) : toJson(this.document(value));
    });
  }

  private line(text: string): string {
    const note = () => this.removals.add('setting', 'log lines');
    const parts = text.split(MODEL_LABEL);
    // Between the labels lies other text: text, label, model, text, label, model, text …
    return parts
      .map((part, i) => (i % 3 === 2 ? this.model(part, 'model') : knownWords(part, note)))
      .join('');
  }

  private model(name: string, key: string): string {
    if (/^model-[0-9a-f]{8}$/.test(name) || isPlain(name)) return name;
    this.removals.add('setting', `field ${key}`);
    return `model-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
  }

  document(value: unknown, key = '', isAgents = false): unknown {
    if (Array.isArray(value)) return value.map(inner => this.document(inner, key, isAgents));
    if (typeof value === 'object' && value !== null) {
      const agents = isAgents || 'stepscopeAgent' in value;
      const kept = Object.entries(value).filter(([name]) => isKnownField(name) || isPlain(name));
      const left = Object.keys(value).length - kept.length;
      this.removals.add('setting', 'fields that no importer reads', left);
      return Object.fromEntries(kept.map(([name, inner]) => [name, this.document(inner, name, agents)]));
    }
    return typeof value === 'string' ? this.text(value, key, isAgents) : value;
  }

  private text(value: string, key: string, isAgents: boolean): string {
    if (
      EXACT_TEXT.test(value) ||
      isPlain(value) ||
      isMoment(value) ||
      isVersion(value) ||
      value === 'removed'
    )
      return value;
    if (isAgents && MODULE_KEY.test(key))
      return scrubName(value, this.identities, kind => this.removals.add(kind, `field ${key}`));
    if (MODEL_KEY.test(key)) return this.model(value, key);
    return knownWords(value, () => this.removals.add('setting', `field ${key}`));
  }
}
