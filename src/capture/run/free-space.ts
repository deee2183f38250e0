/** A disk that fills up loses the whole capture, and often more: better to stop while the report can be written. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';

/** What writing a report and exporting it takes beside the stream. */
export const RESERVE_BYTES = 256e6;

export type FreeBytes = (folder: string) => number;

/** Of the nearest folder that is there: -o may name one that is yet to be made. */
export const freeBytesOf: FreeBytes = folder => {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    try {
      const { bavail, bsize } = fs.statfsSync(at);
      return bavail * bsize;
    } catch {
      if (path.dirname(at) === at) return Infinity;
    }
  }
};

/** nsys collects into the temporary folder first, whatever -o says. */
export const placesWritten = (folder: string, env: NodeJS.ProcessEnv): string[] => [
  ...new Set([folder, env.TMPDIR ?? os.tmpdir()]),
];

export function refuseFullDisk(places: readonly string[], needed: number, freeBytes: FreeBytes): void {
  for (const place of places) {
    const free = freeBytes(place);
    if (free >= needed + RESERVE_BYTES) continue;
    throw new UserError(
      'no-space',
      `${place} has ${formatBytes(free)} free; the capture needs about ${formatBytes(needed + RESERVE_BYTES)}.`,
      'Free some disk space, choose another -o or TMPDIR, or capture fewer iterations.',
    );
  }
}

export const NO_SPACE = /no space left|disk is full|disk quota exceeded|ENOSPC|file size limit exceeded/i;
