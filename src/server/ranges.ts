/**
 * Byte ranges (RFC 9110, section 14): how the page fetches tiles. One range per request; what cannot be given is
 * refused instead of answered with everything, because everything may be gigabytes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes } from '../timeline/spans.js';
import { sendPieces } from './answers.js';
import { Refusal } from './refusal.js';

const PIECE_BYTES = 1 << 20;

interface ByteRange {
  readonly from: number;
  /** Not included. */
  readonly to: number;
}

/** The range a header asks for; undefined where it asks for the whole, null where there is nothing to give. */
export function readRange(header: string | undefined, length: number): ByteRange | null | undefined {
  // Units we do not know are to be ignored.
  if (header === undefined || !/^bytes\s*=/i.test(header)) return undefined;
  const match = /^bytes\s*=\s*(\d*)-(\d*)\s*$/i.exec(header);
  if (!match || (match[1] === '' && match[2] === '')) return null;
  if (match[1] === '') {
    const from = Math.max(0, length - Number(match[2]));
    return from < length ? { from, to: length } : null;
  }
  const from = Number(match[1]);
  const last = match[2] === '' ? length - 1 : Math.min(Number(match[2]), length - 1);
  return from < length && from <= last ? { from, to: last + 1 } : null;
}

export async function sendBytes(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Bytes,
): Promise<void> {
  const { length } = bytes;
  response.setHeader('Accept-Ranges', 'bytes');
  // If-Range names a version to compare with; we give out none, so it cannot be the same.
  const header = request.headers['if-range'] === undefined ? request.headers.range : undefined;
  const range = request.method === 'GET' ? readRange(header, length) : undefined;
  if (range === null) {
    throw new Refusal(
      416,
      `Range ${JSON.stringify(header)} is not available in ${length} bytes.`,
      'Request one range within the file, for example bytes=0-1023.',
      { 'Content-Range': `bytes */${length}` },
    );
  }
  const { from, to } = range ?? { from: 0, to: length };
  if (range) response.setHeader('Content-Range', `bytes ${from}-${to - 1}/${length}`);
  response.statusCode = range ? 206 : 200;
  response.setHeader('Content-Type', 'application/octet-stream');
  response.setHeader('Content-Length', to - from);
  if (request.method === 'HEAD') response.end();
  else await sendPieces(response, cut(bytes, from, to));
}

function* cut(bytes: Bytes, from: number, to: number): Generator<Uint8Array> {
  for (let at = from; at < to; at += PIECE_BYTES) yield bytes.read(at, Math.min(to, at + PIECE_BYTES));
}
