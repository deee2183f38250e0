/**
 * Which files a capture wrote. nsys answers an existing name by writing to the temporary folder and ending with 0,
 * hangs when the folder is missing, and leaves a raw stream where its importer is not installed: so names are checked
 * before, and what lies there afterwards is compared with what lay there before.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { STREAM_ENDING } from '../../catalog/file-formats.js';
import type { PlannedFile } from './runnable.js';

export interface WrittenFile {
  readonly path: string;
  readonly kind: PlannedFile['kind'] | 'engine-log' | 'load-result';
  readonly bytes: number;
}

/** What our agent writes beside a report. */
export const SIDECAR_ENDING = '.agent.json';

/** The other files say something about a report; without one they answer nothing. */
export const isWrittenReport = ({ kind, bytes }: WrittenFile): boolean =>
  (kind === 'nsys-report' || kind === 'torch-trace') && bytes > 0;

type Identity = string;
const identity = (file: string): Identity | undefined => {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat?.isFile() ? `${stat.ino}-${stat.size}-${stat.mtimeMs}` : undefined;
};

export class OutputWatch {
  private readonly before = new Map<string, Identity>();

  private constructor(private readonly planned: readonly PlannedFile[]) {}

  /** Makes the folders, refuses names that are taken, remembers what is there. */
  static begin(planned: readonly PlannedFile[], force: boolean): OutputWatch {
    const watch = new OutputWatch(planned);
    for (const output of planned) {
      makeWritableFolder(path.dirname(path.resolve(output.pattern)));
      for (const { file } of watch.there(output)) {
        if (!force) throw taken(file);
        watch.before.set(file, identity(file) ?? '');
      }
    }
    return watch;
  }

  /** Written since: new names, or other content under a name that was there. Empty files too, to be told of. */
  written(): WrittenFile[] {
    const found = this.planned.flatMap(output =>
      this.there(output)
        .filter(({ file }) => this.before.get(file) !== identity(file))
        .map(({ file }) => ({ path: file, kind: output.kind, bytes: fs.statSync(file).size })),
    );
    const reports = new Set(found.map(({ path: file }) => file));
    return found.filter(
      ({ path: file }, i) =>
        found.findIndex(other => other.path === file) === i &&
        // A report made from its stream is the one to open.
        !(file.endsWith(STREAM_ENDING) && reports.has(file.replace(/\.qdstrm$/, '.nsys-rep'))),
    );
  }

  private there(output: PlannedFile): { file: string }[] {
    const folder = path.dirname(path.resolve(output.pattern));
    const patterns = namesOf(output).map(asPattern);
    let names: string[] = [];
    try {
      names = fs.readdirSync(folder);
    } catch {
      return [];
    }
    return names
      .filter(name => patterns.some(pattern => pattern.test(name)))
      .flatMap(name => filesAt(path.join(folder, name)))
      .map(file => ({ file }))
      .sort((a, b) => a.file.localeCompare(b.file, 'en', { numeric: true }));
  }
}

/** vLLM and SGLang are given a folder for their traces. */
function filesAt(place: string): string[] {
  if (identity(place) !== undefined) return [place];
  try {
    return fs
      .readdirSync(place)
      .map(name => path.join(place, name))
      .filter(file => identity(file) !== undefined);
  } catch {
    return [];
  }
}

/** nsys adds its ending; newer TensorRT-LLM puts the rank before the ending of a trace. */
function namesOf({ pattern, kind }: PlannedFile): string[] {
  const name = path.basename(pattern);
  if (kind === 'nsys-report') {
    const stem = name.replace(/\.(nsys-rep|qdstrm)$/, '');
    return [`${stem}.nsys-rep`, `${stem}${STREAM_ENDING}`];
  }
  if (kind === 'agent-sidecar') {
    const stem = name.slice(0, -SIDECAR_ENDING.length);
    return [name, `${stem}-rank-{rank}${SIDECAR_ENDING}`];
  }
  const { name: stem, ext } = path.parse(name);
  return [name, `${stem}-rank-{rank}${ext}`];
}

/** `%q{VAR}` and the like stand for what only the running program knows. */
function asPattern(name: string): RegExp {
  const parts = name
    .split(/%q\{[^}]*\}|%[phni]|\{rank\}|\*/)
    .map(text => text.replace(/[.\\+*?^${}()|[\]]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+?')}$`);
}

/** `otherwise`: what to do where it cannot be written. */
export function makeWritableFolder(folder: string, otherwise = 'Choose another folder with -o.'): void {
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.accessSync(folder, fs.constants.W_OK);
  } catch (error) {
    throw new UserError(
      'usage',
      `${folder} is not writable: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}.`,
      otherwise,
    );
  }
}

export function taken(file: string): UserError {
  return new UserError('usage', `${file} already exists.`, 'Choose another -o, or overwrite with --force.');
}

/** Where nsys itself says it put reports: needed when that is not where it was asked to. */
export function reportsNamedIn(lines: readonly string[]): string[] {
  const at = lines.findLastIndex(line => /^\s*Generated:/.test(line));
  if (at < 0) return [];
  const named: string[] = [];
  for (const line of lines.slice(at + 1)) {
    const file = line.trim();
    if (!/^\/.*\.(nsys-rep|qdstrm)$/.test(file)) break;
    named.push(file);
  }
  return named;
}
