/** Asking the server. Whatever goes wrong arrives as a Problem: what happened, and what to do. */
import type { ErrorDocument } from '../timeline/wire.js';
import { answerOffline, bytesOffline, isOffline } from './offline/offline.js';
import { Problem } from './problem.js';

const gone = () =>
  new Problem('The server does not respond.', 'Restart stepscope view, then reload this page.');

async function ask(path: string, init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw gone();
  }
  if (response.ok) return response;
  const { error } = ((await response.json().catch(() => null)) ?? {}) as Partial<ErrorDocument>;
  throw new Problem(
    error?.message ?? `The server returned HTTP ${response.status}.`,
    error?.hint ?? 'Reload the page.',
  );
}

export async function askJson<Document>(path: string, init?: RequestInit): Promise<Document> {
  if (isOffline) return (await answerOffline(path)) as Document;
  return (await (await ask(path, init)).json()) as Document;
}

/** Bytes [from, to) of a resource. */
export async function askBytes(
  path: string,
  from: number,
  to: number,
  signal?: AbortSignal,
): Promise<ArrayBuffer> {
  if (isOffline) return bytesOffline(path, from, to);
  const response = await ask(path, { headers: { Range: `bytes=${from}-${to - 1}` }, signal });
  return response.arrayBuffer();
}
