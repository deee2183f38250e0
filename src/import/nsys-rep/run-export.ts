/** Runs `nsys export` and says how it went. No shell: the report's path is the user's, or a stranger's. */
import { execFile, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { SQLITE_MAGIC } from '../../base/sqlite/pages.js';
import type { Nsys } from './find-nsys.js';

export type ExportOutcome =
  | { readonly kind: 'done' }
  /** The report is newer than this nsys. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'no-space'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * How versions of nsys refuse a report they are too old for. 2022.4: "Version not supported: 36398880" and
 * "Version number is invalid: 2025@3@1@90-…"; 2023.4: "newer than your current version".
 */
const REFUSAL =
  /newer than|version not supported|version number is invalid|unsupported (report |file )?version/i;
const NO_SPACE = /no space left|disk is full|disk quota/i;
/** The progress bar fills megabytes; the message is at the end. */
const KEPT_OUTPUT = 4096;
const HELP_TIMEOUT_MS = 10_000;

export async function runExport(
  nsys: Nsys,
  report: string,
  target: string,
  onProgress: (done: number) => void,
): Promise<ExportOutcome> {
  // Absolute, so that no name can be taken for an option.
  const files = ['-o', path.resolve(target), path.resolve(report)];
  const { status, output } = await run(
    nsys.path,
    ['export', '--type', 'sqlite', '--force-overwrite', 'true', ...(await payloadFlag(nsys)), ...files],
    onProgress,
  );
  if (status === 0 && isComplete(target)) return { kind: 'done' };
  const message =
    lastMessage(output) || `nsys exited with ${status === null ? 'a signal' : `status ${status}`}`;
  if (REFUSAL.test(output)) return { kind: 'refused', message };
  return { kind: NO_SPACE.test(output) ? 'no-space' : 'failed', message };
}

/** Python stacks are binary payloads, which newer releases leave out unless they are asked for. */
function payloadFlag(nsys: Nsys): Promise<string[]> {
  return new Promise(resolve => {
    execFile(nsys.path, ['export', '--help'], { timeout: HELP_TIMEOUT_MS }, (_error, output) =>
      resolve(String(output).includes('--include-blobs') ? ['--include-blobs=true'] : []),
    );
  });
}

function run(
  binary: string,
  args: readonly string[],
  onProgress: (done: number) => void,
): Promise<{ status: number | null; output: string }> {
  return new Promise(resolve => {
    let output = '';
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const take = (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT);
      const percent = /(\d+)%[^%]*$/.exec(text);
      if (percent) onProgress(Math.min(100, Number(percent[1])) / 100);
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.once('error', error => resolve({ status: null, output: `${output}\n${error.message}` }));
    child.once('close', status => resolve({ status, output }));
  });
}

/** A status of 0 is not enough: the file must be a database with all the pages it claims. */
function isComplete(file: string): boolean {
  const header = Buffer.alloc(100);
  let size = 0;
  try {
    const fd = fs.openSync(file, 'r');
    size = fs.fstatSync(fd).size;
    fs.readSync(fd, header, 0, 100, 0);
    fs.closeSync(fd);
  } catch {
    return false;
  }
  const pageSize = header.readUInt16BE(16) === 1 ? 65536 : header.readUInt16BE(16);
  return header.toString('latin1', 0, 16) === SQLITE_MAGIC && size >= pageSize * header.readUInt32BE(28);
}

/** The last line that is not a progress bar, on one line and without control characters. */
function lastMessage(output: string): string {
  const lines = output.split(/[\r\n]+/).map(line => line.replace(/[^\x20-\x7e]/g, '').trim());
  const message = lines.filter(line => line !== '' && !/\d+%/.test(line)).at(-1) ?? '';
  return message.replace(/^Exportation error: /, '').slice(0, 300);
}
