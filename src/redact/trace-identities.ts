/**
 * A first pass over a trace for names of hosts and users: they may be stated at its end and used at its beginning. It
 * looks for a few words in the raw bytes, which is many times faster than reading them.
 */
import type { ProfileFile } from '../import/profile-file.js';
import { Identities } from './identities.js';

/** A name is looked for in this many bytes behind the word. */
const REACH = 300;
/** Homes: the path itself says whose. */
const placeWords = ['/home/', '/Users/', '/users/', '\\\\Users\\\\', 'torchinductor_'];
/** Keys and variables whose value is the name. */
const userWords = ['username"', 'user_name"', '"USER"', 'USER=', 'LOGNAME'];
const hostWords = ['hostname"', 'host_name"', 'HOSTNAME'];
const VALUE = /^(?:[^"=:]{0,12}?)"?\s*[:=]\s*"?([\w.@-]+)/;

export async function findTraceIdentities(
  file: ProfileFile,
  onProgress: (done: number) => void,
): Promise<Identities> {
  const identities = new Identities();
  const seen = new Set<string>();
  const look = (bytes: Buffer, words: readonly string[], take: (after: string, word: string) => void) => {
    for (const word of words) {
      for (let at = bytes.indexOf(word); at >= 0; at = bytes.indexOf(word, at + word.length)) {
        const after = bytes.toString('latin1', at + word.length, at + word.length + REACH);
        // The same home again, a million times over.
        const short = word + after.slice(0, 24);
        if (seen.has(short)) continue;
        if (seen.size < 100_000) seen.add(short);
        take(after, word);
      }
    }
  };
  let tail = Buffer.alloc(0);
  for await (const chunk of file.borrowedChunks()) {
    const bytes = Buffer.concat([tail, chunk]);
    look(bytes, placeWords, (after, word) => identities.learnFrom(word.replaceAll('\\\\', '\\') + after));
    look(bytes, userWords, after => identities.addUser(VALUE.exec(after)?.[1] ?? ''));
    look(bytes, hostWords, after => identities.addHost(VALUE.exec(after)?.[1] ?? ''));
    tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - REACH)));
    onProgress(Math.min(1, (chunk.readBytes ?? 0) / file.sizeBytes));
  }
  return identities;
}
