/**
 * The engine's own clock, kept next to the profile: of everything a program prints, the lines with step times or
 * throughput. They were measured while no profiler recorded, and show what the profiled step costs without one.
 */
import * as fs from 'node:fs';
import { withoutEndings } from '../../catalog/file-formats.js';
import { isWarmUpEnd, iterationInLine } from '../../catalog/iteration-line.js';
import { isAboutSpeculation, throughputInLine } from '../../catalog/server-lines.js';
import { PRIVATE_MODE, writeWhole } from '../../disk/write-whole.js';
import { isWrittenReport, type WrittenFile } from './written-files.js';

const ENGINE_LOG_ENDING = '.engine.log';
const LOAD_RESULT_ENDING = '.load.json';
/** Lines of about 400 bytes; the last ones count, since the window comes late. */
const MOST_LINES = 100_000;
const LONGEST_LINE = 4096;

export class EngineClock {
  private lines: string[] = [];
  private load: object | undefined;

  hear(line: string): void {
    const isTime = iterationInLine(line) !== undefined || throughputInLine(line) !== undefined;
    if (!isTime && !isWarmUpEnd(line) && !isAboutSpeculation(line)) return;
    if (line.length > LONGEST_LINE) return;
    this.lines.push(line);
    if (this.lines.length >= 2 * MOST_LINES) this.lines = this.lines.slice(-MOST_LINES);
  }

  /** The first one counts: where there are several, the profiler is started after it. */
  hearLoad(document: object): void {
    this.load ??= document;
  }

  /** Next to the first report; nothing where nothing was heard. A file that is there stays, unless it may be replaced. */
  write(files: readonly WrittenFile[], force: boolean): WrittenFile[] {
    const report = files.find(isWrittenReport);
    if (!report) return [];
    const written: WrittenFile[] = [];
    const put = (kind: WrittenFile['kind'], ending: string, text: string) => {
      const file = `${withoutEndings(report.path)}${ending}`;
      if (fs.existsSync(file) && !force) return;
      writeWhole(file, text, { mode: PRIVATE_MODE });
      written.push({ path: file, kind, bytes: Buffer.byteLength(text) });
    };
    if (this.lines.length > 0)
      put('engine-log', ENGINE_LOG_ENDING, `${this.lines.slice(-MOST_LINES).join('\n')}\n`);
    if (this.load) put('load-result', LOAD_RESULT_ENDING, `${JSON.stringify(this.load)}\n`);
    return written;
  }
}
