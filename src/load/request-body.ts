/**
 * The body of a request. Engines know `ignore_eos` and `min_tokens` (vLLM, SGLang and TensorRT-LLM do), which make
 * answers as long as asked; services of others may refuse fields they do not know, so which are sent is found out
 * first (probe.ts).
 */
import type { Prompt } from './prompt.js';
import type { Api } from './target.js';

/** Fields that not every server takes. */
export interface Extensions {
  /** `ignore_eos` and `min_tokens`: the answer ends where asked, not where the model would. */
  readonly exactLength: boolean;
  /** `stream_options`: the server counts the tokens. */
  readonly usage: boolean;
}

export interface BodySettings {
  readonly api: Api;
  readonly model: string;
  readonly stream: boolean;
  readonly extensions: Extensions;
  /** From the user; stands above everything else. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export function requestBody({ api, model, stream, extensions, extra }: BodySettings, prompt: Prompt): string {
  const { content, outputTokens } = prompt;
  const fields: Record<string, unknown> = {
    model,
    ...(api === 'chat' ? { messages: [{ role: 'user', content }] } : { prompt: content }),
    max_tokens: outputTokens,
    ...(extensions.exactLength ? { ignore_eos: true, min_tokens: outputTokens } : {}),
    stream,
    ...(stream && extensions.usage ? { stream_options: { include_usage: true } } : {}),
    ...extra,
  };
  // `"max_tokens": null` takes a field out that some service does not know.
  for (const name of Object.keys(extra)) if (extra[name] === null) delete fields[name];
  return JSON.stringify(fields);
}

/** Settings of sampling change the work of a server and are no secrets; of other fields only the names are written. */
const SAMPLING =
  /^(temperature|top_p|top_k|min_p|seed|n|best_of|(presence|frequency|repetition)_penalty|length_penalty|ignore_eos|min_tokens|max_tokens|logprobs|use_beam_search)$/;

export function shownFields(extra: Readonly<Record<string, unknown>>) {
  const isShown = ([name, value]: [string, unknown]) =>
    SAMPLING.test(name) && (typeof value === 'number' || typeof value === 'boolean');
  const entries = Object.entries(extra);
  return {
    sampling: Object.fromEntries(entries.filter(isShown)) as Record<string, number | boolean>,
    otherFields: entries.filter(entry => !isShown(entry)).map(([name]) => name),
  };
}
