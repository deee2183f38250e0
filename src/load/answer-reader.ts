/**
 * An answer as it comes in: when each piece with content arrived, how many tokens it has, whether it is whole. The
 * text itself is looked at and let go. Streamed and whole answers differ in form only:
 *
 *   data: {"choices":[{"delta":{"role":"assistant","content":""}}]}      no content: not the first token
 *   data: {"choices":[{"delta":{"content":"Hello"}}]}                    a piece
 *   data: {"choices":[{"delta":{},"finish_reason":"length"}]}            the answer is complete
 *   data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}
 *   data: [DONE]
 */
import { Failure } from './failure.js';
import { SseLines } from './sse-lines.js';

/** No answer is this long; it is a server that does not stop. */
const MOST_ANSWER_BYTES = 256 * 1024 * 1024;

const MOST_ID = 200;

export interface Answer {
  /** When each piece with content arrived. */
  readonly pieceNs: readonly number[];
  /** When the answer was complete: last piece, or the word that it is finished. */
  readonly endNs: number | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** That the server gave the request. */
  readonly id: string | undefined;
  /** Ended without `[DONE]`, but with a reason for ending. */
  readonly withoutDone: boolean;
}

export class AnswerReader {
  private readonly pieces: number[] = [];
  private completeNs: number | undefined;
  private inputTokens: number | undefined;
  private outputTokens: number | undefined;
  private id: string | undefined;
  private isFinished = false;
  /** `[DONE]` was read: nothing of interest follows. */
  isDone = false;
  private bytes = 0;
  private arrivedNs = 0;
  private readonly lines: SseLines | undefined;
  private readonly whole: Buffer[] = [];

  /** `stream`: server-sent events; else one JSON document. */
  constructor(private readonly stream: boolean) {
    if (stream) this.lines = new SseLines(data => this.event(data));
  }

  get hasBegun(): boolean {
    return this.pieces.length > 0;
  }

  push(bytes: Buffer, arrivedNs: number): void {
    this.bytes += bytes.length;
    if (this.bytes > MOST_ANSWER_BYTES)
      throw new Failure('too-large', `a response of more than ${MOST_ANSWER_BYTES} bytes`);
    this.arrivedNs = arrivedNs;
    if (this.lines) this.lines.push(bytes);
    else this.whole.push(bytes);
  }

  /** The server has ended the answer, or the connection. Throws what is wrong with it. */
  end(): Answer {
    if (this.lines && !this.isDone) this.lines.end();
    else if (!this.stream) {
      this.take(parsed(Buffer.concat(this.whole).toString()));
      this.isDone = true;
      this.completeNs = this.arrivedNs;
    }
    if (!this.isDone && !this.isFinished)
      throw new Failure('cut-off', `the stream ended without [DONE], after ${this.pieces.length} chunks`);
    if (this.pieces.length === 0 && !this.outputTokens)
      throw new Failure('empty', 'no token in the response');
    return {
      pieceNs: this.pieces,
      endNs: this.completeNs ?? this.arrivedNs,
      inputTokens: this.inputTokens,
      outputTokens: this.outputTokens,
      id: this.id,
      withoutDone: !this.isDone,
    };
  }

  private event(data: string): void {
    if (this.isDone || data === '') return;
    if (data === '[DONE]') this.isDone = true;
    else this.take(parsed(data));
  }

  private take(message: Message): void {
    if (message.error !== undefined && message.error !== null)
      throw new Failure('error-event', errorText(message) ?? 'an error without a message');
    let hasContent = false;
    let hasEnded = false;
    for (const choice of Array.isArray(message.choices) ? message.choices : []) {
      if (hasText(choice)) hasContent = true;
      if (choice?.finish_reason !== undefined && choice?.finish_reason !== null) hasEnded = true;
    }
    if (hasContent) this.pieces.push(this.arrivedNs);
    if (hasEnded) this.isFinished = true;
    if (hasContent || hasEnded) this.completeNs = this.arrivedNs;
    if (this.id === undefined && typeof message.id === 'string') this.id = message.id.slice(0, MOST_ID);
    this.inputTokens = count(message.usage?.prompt_tokens) ?? this.inputTokens;
    this.outputTokens = count(message.usage?.completion_tokens) ?? this.outputTokens;
  }
}

interface Message {
  readonly id?: unknown;
  readonly choices?: readonly (Choice | null)[];
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null;
  readonly error?: unknown;
}

interface Choice {
  readonly text?: unknown;
  readonly delta?: Content | null;
  readonly message?: Content | null;
  readonly finish_reason?: unknown;
}

interface Content {
  readonly content?: unknown;
  /** Thinking is generated like everything else. */
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly tool_calls?: unknown;
}

function hasText(choice: Choice | null): boolean {
  if (isText(choice?.text)) return true;
  const content = choice?.delta ?? choice?.message;
  if (!content) return false;
  const { tool_calls: calls } = content;
  return (
    isText(content.content) ||
    isText(content.reasoning_content) ||
    isText(content.reasoning) ||
    (Array.isArray(calls) && calls.length > 0)
  );
}

const isText = (value: unknown) => typeof value === 'string' && value !== '';
const count = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined;

function parsed(text: string): Message {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Failure('malformed', 'a response that is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Failure('malformed', 'a response that is not an object');
}

/** The words of an error in any of the forms servers have; never the rest of it, which may repeat the request. */
export function errorText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return errorText(value[0]);
  const { error, message, detail, msg } = value as Record<string, unknown>;
  for (const part of [error, message, detail, msg]) {
    const text = errorText(part);
    if (text !== undefined) return text;
  }
  return undefined;
}
