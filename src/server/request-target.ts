/** The address a request asks for, and reading numbers and steps out of it. */
import { UserError } from '../base/user-error.js';
import type { StepSpan } from '../timeline/spans.js';
import { Refusal } from './refusal.js';

/** Longer than any address the page makes, shorter than what Node takes for all headers together. */
const MOST_CHARACTERS = 8000;

export interface RequestTarget {
  /** As sent, still encoded; begins with one slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Not through `new URL`: that would fold `..` and take `//name` for another host before anyone could refuse it. */
export function readRequestTarget(url: string): RequestTarget {
  if (url.length > MOST_CHARACTERS)
    throw new Refusal(414, 'The address is too long.', 'Use a shorter search.');
  if (!url.startsWith('/'))
    throw new Refusal(400, 'This address does not exist on this server.', 'The page is at /');
  const [path] = url.split('?', 1);
  return { path, query: new URLSearchParams(url.slice(path.length + 1)) };
}

export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new UserError('usage', 'The address is not correctly URL-encoded.', 'Reload the page.');
  }
}

const unreadable = (what: string, text: string | null, example: string) =>
  new UserError('usage', `${JSON.stringify(text ?? '')} is not a valid ${what}.`, `For example: ${example}`);

export function readIndex(what: string, text: string | null): number {
  if (text === null || !/^\d{1,15}$/.test(text)) throw unreadable(what, text, '0');
  return Number(text);
}

/** Nanoseconds on the profile's clock, which may be before its origin. */
export function readNs(text: string | null, missing: number): number {
  if (text === null) return missing;
  if (!/^-?\d{1,18}(\.\d{1,18})?(e[+-]?\d{1,2})?$/.test(text))
    throw unreadable('time in ns', text, '1200000');
  return Number(text);
}

/** FIRST-LAST, or one step. */
export function readSteps(text: string | null): StepSpan | undefined {
  if (text === null) return undefined;
  const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (!match || last < first) throw unreadable('span of steps', text, 'steps=3-12');
  return { first, last };
}
