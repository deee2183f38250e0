/**
 * What servers say of failures may repeat what they were sent. Before it is shown or written, keys and pieces of the
 * prompt are taken out, control characters too, and the rest is cut short.
 */
import { printable } from '../base/printable.js';
import type { Prompt } from './prompt.js';

const MOST_CHARACTERS = 200;
/** Shorter pieces of a prompt are words like any others. */
const LEAST_PIECE = 20;
const TOKEN_IDS = /\[?\d+(?:,\s{0,4}\d+){3,}\]?/g;

export function scrub(text: string, secrets: readonly string[], prompt?: Prompt): string {
  // First the secrets, then the cut: half a key would not be found.
  let clean = text.slice(0, 64 * 1024);
  for (const secret of [...secrets].sort((a, b) => b.length - a.length))
    if (secret !== '') clean = clean.replaceAll(secret, '***');
  clean = clean.slice(0, 4 * MOST_CHARACTERS);
  if (typeof prompt?.content === 'string') clean = withoutPieces(clean, prompt.content);
  else if (prompt) clean = clean.replace(TOKEN_IDS, '(token ids)');
  clean = printable(clean);
  return clean.length > MOST_CHARACTERS ? `${clean.slice(0, MOST_CHARACTERS)}…` : clean;
}

function withoutPieces(text: string, prompt: string): string {
  let clean = '';
  for (let at = 0; at < text.length; ) {
    let length = 0;
    if (prompt.includes(text.slice(at, at + LEAST_PIECE)) && at + LEAST_PIECE <= text.length)
      for (length = LEAST_PIECE; at + length < text.length; length++)
        if (!prompt.includes(text.slice(at, at + length + 1))) break;
    clean += length > 0 ? '(prompt)' : text[at];
    at += Math.max(1, length);
  }
  return clean;
}
