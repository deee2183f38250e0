/**
 * Loads the bundled command, with the code that V8 compiled for it in an earlier call: compiling took a third of a short
 * call. What is kept lies in the user's cache folder, one file for each command:
 *
 *   magic · length of the list · list (JSON) · code of each chunk, in the order of the list
 *
 * V8 checks its version, its flags and the length of the source, not the bytes: checksums of source and code are in the
 * list. STEPSCOPE_NO_CACHE leaves it out.
 */
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import * as vm from 'node:vm';
import * as zlib from 'node:zlib';
import { cacheFolderToRead, ownCacheFolder } from '../disk/cache-folder.js';
import { v8Flags } from './v8-flags.js';

interface KeptChunk {
  readonly name: string;
  readonly sourceSum: number;
  readonly codeSum: number;
  readonly bytes: number;
}

interface Chunk {
  readonly script: vm.Script;
  readonly sourceSum: number;
}

const MAGIC = 'stepscope code 1\n';
/** One for each command, release of Node and place of the package. */
const KEEP_FILES = 200;

/** Since Node 20.15. */
const sumOf: typeof zlib.crc32 | undefined = zlib.crc32;

/** Loads the bundle's entry; `words` are those of the command line. */
export function loadBundle(entry: string, words: readonly string[]): typeof import('./main.js') {
  loadOfNode();
  for (const flag of v8Flags(process.versions.v8)) setFlagsFromString(flag);
  const folder = path.dirname(entry);
  // Without users there is no telling whose folder it is, and what lies there is run.
  const mayKeep = process.getuid !== undefined && process.env.STEPSCOPE_NO_CACHE === undefined;
  return new BundleLoader(folder, mayKeep && sumOf ? fileName(words, sumOf(folder)) : undefined).load(
    path.basename(entry),
  ) as typeof import('./main.js');
}

/** Node keeps compiled code of its own modules, which is void once a flag has changed: what every call needs comes first. */
function loadOfNode(): void {
  parseArgs({ args: [] });
  for (const stream of [process.stdout, process.stderr]) stream.listenerCount('error');
}

/** Commands run different parts of the same chunks, so each has a file of its own. */
function fileName([verb = '']: readonly string[], place: number): string {
  const command = /^[a-z]{1,20}$/.test(verb) ? verb : 'other';
  return `${command}-${process.version}-${process.arch}-${place.toString(16)}.code`;
}

class BundleLoader {
  private readonly modules = new Map<string, { exports: unknown }>();
  private readonly chunks = new Map<string, Chunk>();
  private readonly kept: ReadonlyMap<string, KeptChunk & { readonly code: Buffer }>;
  private isComplete = true;

  constructor(
    private readonly folder: string,
    private readonly file: string | undefined,
  ) {
    const cache = file === undefined ? undefined : cacheFolderToRead('code');
    this.kept = cache === undefined ? new Map() : readKept(path.join(cache, file!));
    if (file !== undefined) process.once('exit', () => this.keep());
  }

  load(name: string): unknown {
    const known = this.modules.get(name);
    if (known) return known.exports;
    const own = { exports: {} };
    this.modules.set(name, own);
    const filename = path.join(this.folder, name);
    const require = createRequire(filename);
    const wanted = (id: string): unknown => (id.startsWith('./') ? this.load(id.slice(2)) : require(id));
    // Code that was kept cannot import by itself; vite.config.js makes it ask for this.
    wanted.importModule = (id: string): Promise<unknown> => import(id);
    this.compile(name, filename).runInThisContext()(own.exports, wanted, own, filename, this.folder);
    return own.exports;
  }

  private compile(name: string, filename: string): vm.Script {
    const source = fs.readFileSync(filename, 'utf8');
    const sourceSum = this.file === undefined ? 0 : sumOf!(source);
    const kept = this.kept.get(name);
    const script = new vm.Script(
      `(function (exports, require, module, __filename, __dirname) {${source}\n})`,
      {
        filename,
        ...(kept?.sourceSum === sourceSum ? { cachedData: kept.code } : {}),
      },
    );
    this.chunks.set(name, { script, sourceSum });
    if (script.cachedDataRejected !== false) this.isComplete = false;
    return script;
  }

  /** With what this call compiled, where it loaded something that was not kept. */
  private keep(): void {
    if (this.isComplete) return;
    const cache = ownCacheFolder('code');
    if (cache === undefined) return;
    try {
      writeKept(cache, this.file!, this.chunks);
      dropOldest(cache);
    } catch {
      // A full disk or another process: the next call compiles again.
    }
  }
}

function readKept(file: string): Map<string, KeptChunk & { code: Buffer }> {
  const found = new Map<string, KeptChunk & { code: Buffer }>();
  try {
    const bytes = fs.readFileSync(file);
    if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return found;
    let at = MAGIC.length + 4;
    const listEnd = at + bytes.readUInt32LE(MAGIC.length);
    const list = JSON.parse(bytes.toString('utf8', at, listEnd)) as KeptChunk[];
    at = listEnd;
    for (const kept of list) {
      const code = bytes.subarray(at, at + kept.bytes);
      at += kept.bytes;
      if (code.length === kept.bytes && sumOf!(code) === kept.codeSum)
        found.set(kept.name, { ...kept, code });
    }
  } catch {
    // None yet, or damaged.
  }
  return found;
}

function writeKept(folder: string, file: string, chunks: ReadonlyMap<string, Chunk>): void {
  const codes: Buffer[] = [];
  const list = [...chunks].map(([name, { script, sourceSum }]): KeptChunk => {
    const code = script.createCachedData();
    codes.push(code);
    return { name, sourceSum, codeSum: sumOf!(code), bytes: code.length };
  });
  const header = Buffer.from(JSON.stringify(list));
  const start = Buffer.alloc(MAGIC.length + 4);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(header.length, MAGIC.length);
  const draft = path.join(folder, `${file}.${process.pid}`);
  fs.writeFileSync(draft, Buffer.concat([start, header, ...codes]), { mode: 0o600 });
  fs.renameSync(draft, path.join(folder, file));
}

function dropOldest(folder: string): void {
  const names = fs.readdirSync(folder);
  if (names.length <= KEEP_FILES) return;
  const changed = (name: string) =>
    fs.statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byAge = names.map(name => ({ name, ms: changed(name) })).sort((a, b) => b.ms - a.ms);
  for (const { name } of byAge.slice(KEEP_FILES)) fs.rmSync(path.join(folder, name), { force: true });
}
