/** A real server with a small hand-made profile, and plain ways to ask it: what transports promise needs no capture. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import type { TestContext } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { DroppedFiles } from '../src/server/dropped-file.js';
import { OpenProfiles } from '../src/server/open-profiles.js';
import { type ServerOptions, startServer } from '../src/server/server.js';
import { readStaticFiles } from '../src/server/static-files.js';
import type { ViewedProfile } from '../src/timeline/viewed-profile.js';

/** Says in each answer what it was asked. */
export const columnBytes = Uint8Array.from({ length: 5000 }, (_, i) => i % 251);

export function smallProfile(name = 'small.sqlite.gz', changes: Partial<ViewedProfile> = {}): ViewedProfile {
  const asked = (...args: unknown[]) => ({ asked: args }) as never;
  const bytes = { length: columnBytes.length, read: (a: number, b: number) => columnBytes.subarray(a, b) };
  return {
    name,
    prepare: async () => {},
    prepareAnswer: async () => {},
    timeline: () => asked('timeline'),
    columns: () => bytes,
    labels: page => [`label of page ${page}`],
    event(lane, index) {
      if (lane === 99) throw new UserError('not-found', 'There is no lane 99.', 'Reload the page.');
      return asked('event', lane, index);
    },
    like: text => asked('like', text),
    search: query => asked('search', query),
    searchColumns: query => ({ length: query.length, read: (a, b) => Buffer.from(query).subarray(a, b) }),
    match: (query, at) => asked('match', query, at),
    ranks: () => asked('ranks'),
    waits: (from, to) => asked('waits', from, to),
    selection: what => asked('selection', what),
    selectedEvents: () => ({ rows: 0, column: () => undefined }),
    answer: steps => asked('answer', steps ?? null),
    panel(analysis, steps) {
      if (analysis === 'bug') throw new TypeError('/home/user/secret.js is undefined');
      return asked('panel', analysis, steps ?? null);
    },
    snapshot: what => asked('snapshot', what),
    flame: steps => asked('flame', steps ?? null),
    lookingAt() {
      throw new UserError('usage', 'This profile has no steps.', 'Ask another.');
    },
    *trace(fromNs, toNs) {
      yield '{"traceEvents":[';
      yield JSON.stringify([String(fromNs), String(toNs)]);
      yield ']}';
    },
    *csv(fromNs, toNs) {
      yield 'from,to\n';
      yield `${fromNs},${toNs}\n`;
    },
    ...changes,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

interface Question {
  readonly method?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
  /** Where the server listens. */
  readonly at?: string;
  /** False: without the key. */
  readonly key?: boolean;
}

/** Keys of the servers that were started here, by port. */
const keys = new Map<number, string>();
export const rememberKey = (url: string): void => {
  const { port, searchParams } = new URL(url);
  keys.set(Number(port), searchParams.get('token') ?? '');
};

export const keyOf = (port: number) => ({ authorization: `Bearer ${keys.get(port) ?? ''}` });

/** As a program asks: any header, no browser in between. */
export function ask(port: number, address: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET', body, at = '127.0.0.1', key = true } = question;
  const own = key && keys.has(port) ? keyOf(port) : {};
  const headers = { ...own, ...question.headers };
  return new Promise((resolve, reject) => {
    const sent = http.request({ host: at, port, path: address, method, headers, agent: false }, received => {
      const chunks: Buffer[] = [];
      received.on('data', chunk => chunks.push(chunk));
      received.on('error', reject);
      received.on('end', () => {
        const whole = Buffer.concat(chunks);
        const { statusCode: status = 0, headers } = received;
        resolve({ status, headers, body: whole, text: whole.toString('utf8') });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Bytes as they are, for what no HTTP client would send. Gives the status, 0 where the server just hung up. */
export function askRaw(port: number, text: string): Promise<{ status: number; text: string }> {
  return new Promise(resolve => {
    const withKey = text.replace(
      / HTTP\/1\.1\r\n/,
      line => `${line}Authorization: ${keyOf(port).authorization}\r\n`,
    );
    const socket = net.connect(port, '127.0.0.1', () => socket.write(withKey));
    let received = '';
    socket.setTimeout(5000, () => socket.destroy());
    socket.on('data', chunk => (received += chunk.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () =>
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0), text: received }),
    );
  });
}

/** A built page as Vite would leave it, and something beside it that no address may reach. */
export function makePage(t: TestContext): { folder: string; secret: string } {
  const parent = mkdtempSync(path.join(tmpdir(), 'stepscope-page-'));
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = path.join(parent, 'web');
  mkdirSync(path.join(folder, 'assets'), { recursive: true });
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html><title>Stepscope</title>');
  writeFileSync(path.join(folder, 'assets/index-CC01uZle.js'), 'export {};');
  writeFileSync(path.join(folder, 'assets/index-a_-4uZle.css'), 'body {}');
  const secret = 'top secret beside the page';
  writeFileSync(path.join(parent, 'secret.txt'), secret);
  return { folder, secret };
}

interface SmallServer {
  readonly port: number;
  readonly url: string;
  readonly profiles: OpenProfiles;
  /** Where dropped files lie while they are opened. */
  readonly dropFolder: string;
  readonly secret: string;
  stop(): Promise<void>;
}

interface Changes extends Partial<ServerOptions> {
  readonly largestBytes?: number;
  readonly view?: ViewedProfile;
}

/** Profile 1 is the small one. */
export async function startSmall(t: TestContext, changes: Changes = {}): Promise<SmallServer> {
  const { largestBytes = 1e9, view = smallProfile(), ...options } = changes;
  const { folder, secret } = makePage(t);
  const dropFolder = mkdtempSync(path.join(tmpdir(), 'stepscope-drops-'));
  const profiles = new OpenProfiles();
  await profiles.open(view.name, async () => view);
  const server = await startServer({
    version: '1.2.3',
    profiles,
    compare: null,
    page: readStaticFiles(folder),
    dropped: new DroppedFiles(largestBytes, dropFolder),
    openDropped: async (_, name) => smallProfile(name),
    ...options,
  });
  rememberKey(server.url);
  t.after(async () => {
    await server.stop();
    rmSync(dropFolder, { recursive: true });
  });
  return { ...server, profiles, dropFolder, secret };
}
