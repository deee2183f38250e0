/**
 * Files from the far side, in pieces, checked by size and SHA-256. What has arrived stays under a name made of the
 * content's hash, so a copy that broke goes on where it stopped, in this run or the next, and never mixes two contents.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { sleep } from './marked-processes.js';
import { type ExecResult, lastLine, script, type Transport } from './transport.js';
import { sha256Of } from './write-recipe.js';
import { taken } from './written-files.js';

export interface CopyOptions {
  /** Another content under the name may be overwritten. */
  readonly force?: boolean;
  readonly pieceBytes?: number;
  /** Tries of one piece before giving up. */
  readonly tries?: number;
  readonly waitMs?: number;
  readonly onProgress?: (done: number) => void;
}

const PIECE_BYTES = 32 * 2 ** 20;

/** busybox knows all of these. */
const SIZE_AND_HASH = 'wc -c < "$1" && sha256sum < "$1"';
const PIECE = 'tail -c +"$2" "$1" | head -c "$3"';

export async function copyBack(
  transport: Transport,
  from: string,
  to: string,
  options: CopyOptions = {},
): Promise<void> {
  const { bytes, sha256 } = await describe(transport, from, options);
  if (fs.existsSync(to)) {
    // It arrived in an earlier run.
    if ((await sha256Of(to)) === sha256) return;
    if (!options.force) throw taken(to);
  }
  const partial = `${to}.${sha256.slice(0, 16)}.partial`;
  let have = Math.min(fs.statSync(partial, { throwIfNoEntry: false })?.size ?? 0, bytes);
  fs.mkdirSync(path.dirname(path.resolve(to)), { recursive: true });
  while (have < bytes) {
    const length = Math.min(options.pieceBytes ?? PIECE_BYTES, bytes - have);
    await withTries(transport, options, () => piece(transport, from, partial, have, length));
    have += length;
    options.onProgress?.(have / bytes);
  }
  if (bytes === 0) fs.writeFileSync(partial, '');
  if ((await sha256Of(partial)) !== sha256) {
    fs.rmSync(partial, { force: true });
    throw new UserError(
      'damaged',
      `${path.basename(from)} changed during the copy.`,
      'Copy it again; if the file is still growing, wait until it is complete.',
    );
  }
  fs.renameSync(partial, to);
}

async function describe(transport: Transport, from: string, options: CopyOptions) {
  const result = await withTries(transport, options, async () => {
    const answer = await transport.exec(script(SIZE_AND_HASH, from));
    return { answer, done: answer.status === 0 };
  });
  const match = /^\s*(\d+)\s+([0-9a-f]{64})\b/.exec(result.stdout);
  if (!match) throw broken(transport, result);
  return { bytes: Number(match[1]), sha256: match[2] };
}

/** Arrived in part counts as not arrived: the piece is cut off again. */
async function piece(transport: Transport, from: string, partial: string, offset: number, length: number) {
  const fd = fs.openSync(partial, fs.existsSync(partial) ? 'r+' : 'w');
  const stream = fs.createWriteStream(partial, { fd, start: offset, autoClose: false });
  try {
    const answer = await transport.exec(script(PIECE, from, String(offset + 1), String(length)), {
      into: stream,
      mostBytes: length,
    });
    await new Promise<void>(resolve => void stream.end(() => resolve()));
    const done = answer.status === 0 && stream.bytesWritten === length;
    if (!done) fs.ftruncateSync(fd, offset);
    return { answer, done };
  } finally {
    fs.closeSync(fd);
  }
}

async function withTries(
  transport: Transport,
  { tries = 5, waitMs = 1000 }: CopyOptions,
  attempt: () => Promise<{ answer: ExecResult; done: boolean }>,
): Promise<ExecResult> {
  for (let time = 1; ; time++) {
    const { answer, done } = await attempt();
    if (done) return answer;
    if (time >= tries) throw broken(transport, answer);
    await sleep(waitMs * time);
  }
}

const broken = (transport: Transport, result: ExecResult) =>
  new UserError(
    'unreachable',
    `The copy from ${transport.name} was interrupted: ${lastLine(result)}`,
    'Copied files are kept; get the rest with --fetch and the folder named above.',
  );
