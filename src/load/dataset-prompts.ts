/**
 * Prompts of a file in the form of trtllm-bench: an object per line with `prompt`, `input_ids` (or `logits`) or
 * `turns`, and `output_tokens` (tensorrt_llm/bench/utils/data.py). Asked for in their order, from the begin again when
 * there are no more. Of several turns the first is asked: the others need the answers in between.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { NoteCounter } from '../base/notes.js';
import { formatBytes } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { drawLength, type Lengths, MOST_TOKENS } from '../stats/lengths.js';
import { randomStream } from '../stats/random.js';
import type { Prompt, PromptSource } from './prompt.js';

/** Texts twice as large would not fit a string. */
const MOST_BYTES = 256 * 1024 * 1024;

export class DatasetPrompts implements PromptSource {
  readonly notes = new NoteCounter();
  readonly name: string;
  private readonly prompts: readonly { content: Prompt['content']; outputTokens?: number }[];
  private next = 0;

  /** Lines that name no length of the answer take it from `output`. */
  constructor(
    file: string,
    private readonly output: Lengths,
    private readonly seed: number,
  ) {
    this.name = path.basename(file);
    this.prompts = this.read(file);
    if (this.prompts.length === 0)
      throw new UserError(
        'not-a-profile',
        `${this.name} contains no prompt in trtllm-bench format.`,
        'Each line must be an object: {"task_id": 0, "prompt": "…", "output_tokens": 128}, or with "input_ids".',
      );
  }

  get size(): number {
    return this.prompts.length;
  }

  /** Goes on through the file from level to level: a prompt asked twice may be answered from a cache. */
  prompt(part: string, number: number): Prompt {
    const { content, outputTokens } = this.prompts[this.next++ % this.prompts.length];
    return {
      content,
      ...(typeof content === 'string' ? {} : { inputTokens: content.length }),
      outputTokens: outputTokens ?? drawLength(this.output, randomStream(this.seed, 'lengths', part, number)),
    };
  }

  get hasTokenIds(): boolean {
    return this.prompts.some(({ content }) => typeof content !== 'string');
  }

  /** More was asked for than there is. */
  get hasCycled(): boolean {
    return this.next > this.prompts.length;
  }

  private read(file: string) {
    const prompts: { content: Prompt['content']; outputTokens?: number }[] = [];
    for (const line of textOf(file).split('\n')) {
      if (line.trim() === '') continue;
      const row = parsed(line);
      const content = contentOf(row);
      if (content === undefined)
        this.notes.add('no-prompt', 'loss', 'dataset lines without a prompt were left out');
      else prompts.push({ content, outputTokens: countOf(row.output_tokens) });
      if (Array.isArray(row?.turns) && row.turns.length > 1)
        this.notes.add('first-turn', 'info', 'conversations were reduced to their first turn');
    }
    return prompts;
  }
}

function textOf(file: string): string {
  try {
    const stat = fs.statSync(file);
    if (!stat.isFile()) throw new Error('it is not a file');
    if (stat.size <= MOST_BYTES) return fs.readFileSync(file, 'utf8');
    throw new UserError(
      'too-large',
      `${path.basename(file)} is larger than ${formatBytes(MOST_BYTES)}.`,
      'Keep one line per request to send, for example: head -n 1000',
    );
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      'not-found',
      `${file} cannot be read: ${(error as Error).message}`,
      'Check the path given with --dataset.',
    );
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function contentOf(row: Record<string, unknown>): Prompt['content'] | undefined {
  if (typeof row.prompt === 'string' && row.prompt !== '') return row.prompt;
  const ids = row.input_ids ?? row.logits;
  const isIds = Array.isArray(ids) && ids.length > 0 && ids.every(id => Number.isInteger(id) && id >= 0);
  if (isIds) return ids as number[];
  const [turn] = Array.isArray(row.turns) ? row.turns : [];
  return typeof turn === 'string' && turn !== '' ? turn : undefined;
}

const countOf = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 1 && (value as number) <= MOST_TOKENS
    ? (value as number)
    : undefined;
