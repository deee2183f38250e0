/** How answers are written: documents, refusals, and streams that wait for slow readers and stop for gone ones. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorDocument } from '../timeline/wire.js';
import type { Refusal } from './refusal.js';

/** On every answer. The page may load its own files and talk to its own server, and nobody may frame or read it. */
const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Profiles are nobody's business but the asker's; what may be kept says so itself.
  'Cache-Control': 'no-store',
};

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
}

export function sendBody(
  response: ServerResponse,
  status: number,
  mediaType: string,
  body: string | Uint8Array,
): void {
  response.statusCode = status;
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  if (response.req.method !== 'HEAD') response.write(body);
  endAfterBody(response);
}

export function sendJson(response: ServerResponse, document: unknown, status = 200): void {
  sendBody(response, status, 'application/json; charset=utf-8', JSON.stringify(document));
}

/** Two lines, as a document where a program asks and as text where a person does. */
export function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  if (response.destroyed) return;
  if (response.headersSent) {
    // Half an answer must not look like a whole one.
    response.destroy();
    return;
  }
  const { status, message, hint, headers } = refusal;
  for (const name of ['Content-Disposition', 'Content-Range', 'Accept-Ranges']) response.removeHeader(name);
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  if (request.url?.startsWith('/api/')) {
    const document: ErrorDocument = { error: { message, hint } };
    sendJson(response, document, status);
  } else sendBody(response, status, 'text/plain; charset=utf-8', `${message}\n${hint}\n`);
}

/** How long the rest of a refused upload is read and thrown away. */
const LINGER_MS = 10_000;

/** Hanging up on someone who is still sending would lose the answer on its way; listening for ever would be silly. */
function endAfterBody(response: ServerResponse): void {
  const request = response.req;
  if (request.complete) {
    response.end();
    return;
  }
  const timer = setTimeout(() => request.socket.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  request.resume();
}

/** Strings shorter than this are sent together. */
const PIECE_CHARACTERS = 1 << 16;
/** A reader that takes nothing for so long is gone. */
const STALLED_MS = 5 * 60_000;

/**
 * Sends piece by piece. A piece is made when the one before has left, so a slow reader costs one piece of memory, and
 * between pieces others get their turn.
 */
export async function sendPieces(
  response: ServerResponse,
  pieces: Iterable<string | Uint8Array>,
): Promise<void> {
  response.setTimeout(STALLED_MS, () => response.destroy());
  for (const piece of gathered(pieces)) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
    await new Promise(setImmediate);
  }
  if (!response.destroyed) response.end();
}

function* gathered(pieces: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      yield piece;
      continue;
    }
    text += piece;
    if (text.length < PIECE_CHARACTERS) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
    if (response.destroyed) done();
  });
}
