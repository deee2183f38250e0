/**
 * The built page. Its files are read once, at the start, into a map by address: what a URL says is looked up there and
 * never reaches the disk, so no spelling of a path can lead out of the folder.
 */
import * as fs from 'node:fs';
import type { ServerResponse } from 'node:http';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { sendBody } from './answers.js';
import { Refusal } from './refusal.js';

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Vite puts a hash of the content into these names: under one name there is only ever one content. */
const HASHED = /^\/assets\/.*-[\w-]{8}\.\w+$/;

interface StaticFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly cacheControl: string;
}

export type StaticFiles = ReadonlyMap<string, StaticFile>;

export function readStaticFiles(folder: string): StaticFiles {
  const files = new Map<string, StaticFile>();
  if (!fs.existsSync(path.join(folder, 'index.html'))) {
    throw new UserError('not-found', 'The page of stepscope view is not built.', 'Run: npm run build');
  }
  for (const name of fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder, name);
    if (!fs.statSync(file).isFile()) continue;
    const address = `/${name.split(path.sep).join('/')}`;
    files.set(address, {
      bytes: fs.readFileSync(file),
      mediaType: mediaTypes[path.extname(name)] ?? 'application/octet-stream',
      cacheControl: HASHED.test(address) ? 'private, max-age=31536000, immutable' : 'no-cache',
    });
  }
  files.set('/', files.get('/index.html')!);
  return files;
}

export function sendStaticFile(response: ServerResponse, files: StaticFiles, address: string): void {
  const file = files.get(address);
  if (!file) throw new Refusal(404, 'This address does not exist.', 'The page is at /');
  response.setHeader('Cache-Control', file.cacheControl);
  sendBody(response, 200, file.mediaType, file.bytes);
}
