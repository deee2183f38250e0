/**
 * Copies of the small files around a profile: benchmark results and logs, files of the agent, recipes, baselines. They
 * are read whole; of documents the fields that importers read are kept, of logs the words of the tools and all numbers.
 */
import { createHash } from 'node:crypto';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { BenchContent } from '../import/bench/bench-content.js';
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

/** Which model it was is private as often as not; whether it was the same one is needed to compare. */
const MODEL_KEY = /^(?:model|model_id|model_path|model_names|models|tokenizer_id)$/;
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
  const isJson =
    content.kind === 'documents' && content.documents.every(({ value }) => isSameJson(value, text));
  const copy = isJson ? `${JSON.stringify(rules.document(JSON.parse(text)))}\n` : rules.lines(text);
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

/** One document that fills the file, by the letter of JSON. */
function isSameJson(value: unknown, text: string): boolean {
  try {
    return typeof value === 'object' && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

class DocumentRules {
  constructor(
    private readonly identities: Identities,
    private readonly removals: Removals,
  ) {}

  /** Logs, and files with a document on each line. Lines keep their numbers, so that places can still be named. */
  lines(text: string): string {
    return text.replace(/[^\r\n]+/g, line => {
      if (/^\s*[{[]/.test(line)) {
        try {
          return JSON.stringify(this.document(JSON.parse(line)));
        } catch {
          // A dict as Python prints it, or a piece of a document: words, like the rest.
        }
      }
      return knownWords(line, () => this.removals.add('setting', 'log lines'));
    });
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
    if (isPlain(value) || isMoment(value) || isVersion(value) || value === 'removed') return value;
    if (isAgents && MODULE_KEY.test(key))
      return scrubName(value, this.identities, kind => this.removals.add(kind, `field ${key}`));
    if (MODEL_KEY.test(key)) {
      if (/^model-[0-9a-f]{8}$/.test(value)) return value;
      this.removals.add('setting', `field ${key}`);
      return `model-${createHash('sha256').update(value).digest('hex').slice(0, 8)}`;
    }
    return knownWords(value, () => this.removals.add('setting', `field ${key}`));
  }
}
