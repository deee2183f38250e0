/**
 * Loads the bundled command, with the code that V8 compiled for it in an earlier call: compiling took a third of a short
 * call. What is kept lies in the user's cache folder, one file for each command:
 *
 *   magic · length of the list · list (JSON) · source and code of each chunk, in the order of the list, each padded
 *
 * V8 checks its version, its flags and the length of the source, not the bytes: a checksum of both is in the list. The
 * source of a chunk is kept too, because one file is read faster than ten. The name of a chunk says which content it has;
 * a file that bears no such name is read, and must be as it was. STEPSCOPE_NO_CACHE leaves all of it out.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import * as vm from 'node:vm';
import * as zlib from 'node:zlib';
import { cacheFolderToRead, ownCacheFolder } from '../disk/cache-folder.js';
import { readsMuch, v8Flags } from './v8-flags.js';

interface Listed {
  readonly name: string;
  readonly sourceBytes: number;
  readonly codeBytes: number;
  /** Of source and code. */
  readonly sum: number;
}

interface KeptChunk {
  readonly source: Buffer;
  readonly code: Buffer;
}

interface Chunk {
  readonly script: vm.Script;
  readonly source: Buffer;
}

const MAGIC = 'stepscope code 2\n';
/** As vite.config.js names chunks: a hash of the content. */
const NAMED_BY_CONTENT = /\.[\w-]{8}\.js$/;
/** One or two for each command, release of Node and place of the package. */
const KEEP_FILES = 200;

/** Since Node 20.15. */
const sumOf: typeof zlib.crc32 | undefined = zlib.crc32;

/** Loads the bundle's entry; `words` are those of the command line. */
export function loadBundle(entry: string, words: readonly string[]): typeof import('./main.js') {
  const isLarge = readsMuch(words);
  loadOfNode(words, isLarge);
  for (const flag of v8Flags(process.versions.v8, isLarge)) setFlagsFromString(flag);
  const folder = path.dirname(entry);
  // Without users there is no telling whose folder it is, and what lies there is run.
  const mayKeep = process.getuid !== undefined && process.env.STEPSCOPE_NO_CACHE === undefined;
  return new BundleLoader(
    folder,
    mayKeep && sumOf ? fileName(words, isLarge, sumOf(folder)) : undefined,
  ).load(path.basename(entry)) as typeof import('./main.js');
}

/** Node keeps compiled code of its own modules, which is void once a flag has changed: what every call needs comes first. */
function loadOfNode(words: readonly string[], isLarge: boolean): void {
  // A document names its files by their content, and threads help with large ones.
  if (words.some(word => /^(?:--json|--ndjson|json|--format=json)$/.test(word))) require('node:crypto');
  if (isLarge) require('node:worker_threads');
  parseArgs({ args: [] });
  for (const stream of [process.stdout, process.stderr]) stream.listenerCount('error');
}

/** Commands run different parts of the same chunks, and code is void under other flags: each has a file of its own. */
function fileName([verb = '']: readonly string[], isLarge: boolean, place: number): string {
  const command = /^[a-z]{1,20}$/.test(verb) ? verb : 'other';
  return `${command}${isLarge ? '-large' : ''}-${process.version}-${process.arch}-${place.toString(16)}.code`;
}

class BundleLoader {
  private readonly modules = new Map<string, { exports: unknown }>();
  private readonly chunks = new Map<string, Chunk>();
  private readonly kept: ReadonlyMap<string, KeptChunk>;
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
    // What is not of the bundle is found from any file of the package alike.
    const wanted = (id: string): unknown => (id.startsWith('./') ? this.load(id.slice(2)) : require(id));
    // Code that was kept cannot import by itself; vite.config.js makes it ask for this.
    wanted.importModule = (id: string): Promise<unknown> => import(id);
    this.compile(name, filename).runInThisContext()(own.exports, wanted, own, filename, this.folder);
    return own.exports;
  }

  private compile(name: string, filename: string): vm.Script {
    const kept = this.kept.get(name);
    const source = kept && NAMED_BY_CONTENT.test(name) ? kept.source : asFunction(fs.readFileSync(filename));
    // Characters of one byte: vite.config.js escapes others, and V8 reads and holds these faster.
    const script = new vm.Script(source.toString('latin1'), {
      filename,
      ...(kept?.source.equals(source) ? { cachedData: kept.code } : {}),
    });
    this.chunks.set(name, { script, source });
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

/** As Node does with a module of CommonJS. What is kept has it already: a text put together is copied once more. */
const asFunction = (source: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('(function (exports, require, module, __filename, __dirname) {'),
    source,
    Buffer.from('\n})'),
  ]);

/** V8 copies code that does not begin where a word does. */
const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;
const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes], aligned(bytes.length));

function readKept(file: string): Map<string, KeptChunk> {
  const found = new Map<string, KeptChunk>();
  try {
    const bytes = fs.readFileSync(file);
    if (bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) return found;
    const listAt = MAGIC.length + 4;
    const listEnd = listAt + bytes.readUInt32LE(MAGIC.length);
    const list = JSON.parse(bytes.toString('utf8', listAt, listEnd)) as Listed[];
    let at = aligned(listEnd);
    for (const { name, sourceBytes, codeBytes, sum } of list) {
      const codeAt = at + aligned(sourceBytes);
      const both = bytes.subarray(at, codeAt + codeBytes);
      if (codeAt + codeBytes <= bytes.length && sumOf!(both) === sum)
        found.set(name, {
          source: both.subarray(0, sourceBytes),
          code: bytes.subarray(codeAt, codeAt + codeBytes),
        });
      at = codeAt + aligned(codeBytes);
    }
  } catch {
    // None yet, or damaged.
  }
  return found;
}

function writeKept(folder: string, file: string, chunks: ReadonlyMap<string, Chunk>): void {
  const parts: Buffer[] = [];
  const list = [...chunks].map(([name, { script, source }]): Listed => {
    const code = script.createCachedData();
    const both = Buffer.concat([padded(source), code]);
    parts.push(padded(both));
    return { name, sourceBytes: source.length, codeBytes: code.length, sum: sumOf!(both) };
  });
  const text = Buffer.from(JSON.stringify(list));
  const start = Buffer.alloc(MAGIC.length + 4);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(text.length, MAGIC.length);
  const draft = path.join(folder, `${file}.${process.pid}`);
  fs.writeFileSync(draft, Buffer.concat([padded(Buffer.concat([start, text])), ...parts]), { mode: 0o600 });
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
