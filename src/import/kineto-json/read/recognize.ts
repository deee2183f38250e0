/** Tells a trace from other JSON by its first bytes: the keys of the outermost object, or of an array's first element. */
import { JsonCursor } from '../../../base/json/json-cursor.js';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

const traceKeys = new Set([
  'traceEvents',
  'schemaVersion',
  'deviceProperties',
  'displayTimeUnit',
  'distributedInfo',
  'traceName',
  'baseTimeNanoseconds',
]);

/** Keys of the outermost object, in front of the events or behind them. */
export const isTraceKey = (key: string): boolean => traceKeys.has(key);

export function looksLikeTrace(head: Uint8Array): boolean {
  let at = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0;
  const skipSpace = () => {
    while (at < head.length && head[at] <= SPACE) at++;
  };
  skipSpace();
  if (head[at] === OPEN_BRACE) return keysFrom(head, at + 1).keys.some(key => traceKeys.has(key));
  if (head[at] !== OPEN_BRACKET) return false;
  at++;
  skipSpace();
  if (head[at] === CLOSE_BRACKET) return true;
  if (head[at] !== OPEN_BRACE) return false;
  const { keys, cut } = keysFrom(head, at + 1);
  if (keys.includes('ph')) return true;
  // A first event too long for the head (a huge name) shows only some of its keys.
  return cut ? keys.includes('name') || keys.includes('cat') : keys.includes('name') && keys.includes('cat');
}

function keysFrom(head: Uint8Array, at: number): { keys: string[]; cut: boolean } {
  const cursor = new JsonCursor();
  const padded = new Uint8Array(head.length + 2);
  padded.set(head);
  cursor.reset(padded, at, head.length);
  const keys: string[] = [];
  while (cursor.nextKey()) {
    keys.push(new TextDecoder().decode(head.subarray(cursor.textFrom, cursor.textTo)));
    cursor.skipValue();
  }
  return { keys, cut: cursor.trouble !== 0 };
}
