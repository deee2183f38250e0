/** A capture that ended in a raw stream gets its report, under the name the plan promised. The stream is then removed. */
import * as fs from 'node:fs';
import { STREAM_ENDING } from '../../catalog/file-formats.js';
import { importRawStream } from '../../import/nsys-rep/raw-stream.js';

export async function importStream(stream: string, nsys: string): Promise<string | undefined> {
  const stem = stream.slice(0, -STREAM_ENDING.length);
  // Under another name first: an older report may have the name.
  const unfinished = `${stem}.unfinished-${process.pid}.nsys-rep`;
  if ((await importRawStream(stream, unfinished, nsys)).kind !== 'done') return undefined;
  const report = `${stem}.nsys-rep`;
  fs.renameSync(unfinished, report);
  fs.rmSync(stream, { force: true });
  return report;
}
