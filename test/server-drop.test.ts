/** Files dropped onto the page: opened, refused, given up; and never anything left behind. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import * as path from 'node:path';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { displayName } from '../src/server/dropped-file.js';
import { ask, keyOf, smallProfile, startSmall } from './small-server.js';

const own = { 'X-Stepscope': '1' };
const drop = (port: number, name: string, body: string | Uint8Array, headers: Record<string, string> = own) =>
  ask(port, `/api/profiles?name=${encodeURIComponent(name)}`, { method: 'PUT', headers, body });
const stateOf = async (port: number) => JSON.parse((await ask(port, '/api/state')).text).profiles;

async function until(what: string, isSo: () => boolean | Promise<boolean>) {
  for (let i = 0; i < 500; i++) {
    if (await isSo()) return;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  assert.fail(`never: ${what}`);
}

test('a dropped file is opened from a folder of ours and shown while it is', async t => {
  let seen: { file: string; content: string; modes: number[] } | undefined;
  let finish = () => {};
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(file, name, { onProgress }) {
      const modes = [file, path.dirname(file)].map(at => statSync(at).mode & 0o777);
      seen = { file, content: readFileSync(file, 'utf8'), modes };
      onProgress?.(file, 0.5);
      await new Promise<void>(resolve => (finish = resolve));
      return smallProfile(name);
    },
  });
  const answer = drop(port, 'my run.json', 'content');
  await until('it is being opened', () => seen !== undefined);
  const [, opening] = await stateOf(port);
  const doing = 'Reading my run.json';
  assert.deepEqual(opening, { id: 2, name: 'my run.json', status: 'opening', doing, done: 0.5 });
  finish();
  assert.deepEqual(JSON.parse((await answer).text), { id: 2 });
  assert.equal((await stateOf(port))[1].status, 'ready');
  assert.equal((await ask(port, '/api/profiles/2/timeline')).status, 200);
  assert.equal(seen?.content, 'content');
  assert.deepEqual(seen?.modes, [0o600, 0o700]);
  assert.ok(seen?.file.startsWith(dropFolder) && !seen.file.includes('my run'));
  assert.deepEqual(readdirSync(dropFolder), []);
});

test('a hostile name is shown, and is never a path', async t => {
  const files: string[] = [];
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(file, name) {
      files.push(path.relative(dropFolder, file));
      return smallProfile(name);
    },
  });
  const names: [given: string, shown: string][] = [
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['../../etc/passwd', 'passwd'],
    ['/etc/cron.d/x', 'x'],
    ['C:\\Windows\\win.ini', 'win.ini'],
    ['..', '..'],
    ['a\0b\r\nSet-Cookie: x\u202egpj.exe', 'abSet-Cookie: xgpj.exe'],
    ['', 'dropped file'],
    ['dir/', 'dropped file'],
    ['\u{1f600}'.repeat(300), '\u{1f600}'.repeat(200)],
  ];
  for (const [given, shown] of names) {
    const { status } = await drop(port, given, 'x');
    assert.equal(status, 200, given);
    assert.equal((await stateOf(port)).at(-1).name, shown);
  }
  for (const file of files) assert.match(file, /^stepscope-dropped-[\w-]+[/\\]dropped\.nsys-rep$/);
  assert.equal(displayName(null), 'dropped file');
  const { headers } = await ask(port, '/api/state');
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['x-content-type-options'], 'nosniff');
});

test('only the page may send one', async t => {
  let opened = 0;
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(_, name) {
      opened++;
      return smallProfile(name);
    },
  });
  const refused: Record<string, string>[] = [
    {},
    { 'X-Stepscope': '0' },
    { ...own, Origin: 'http://evil.example' },
    { ...own, 'Sec-Fetch-Site': 'cross-site' },
    { ...own, 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' },
    { ...own, Host: `evil.example:${port}` },
  ];
  for (const headers of refused)
    assert.equal((await drop(port, 'x', 'x', headers)).status, 403, JSON.stringify(headers));
  assert.equal(opened, 0);
  assert.deepEqual(readdirSync(dropFolder), []);
  assert.equal((await drop(port, 'x', 'x', { ...own, Origin: `http://127.0.0.1:${port}` })).status, 200);
});

test('a file that cannot be opened gives the two lines of its importer', async t => {
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(_, name) {
      throw new UserError('damaged', `${name} is damaged.`, 'Copy it again.');
    },
  });
  const { status, text } = await drop(port, 'x.sqlite', 'x');
  const error = { message: 'x.sqlite is damaged.', hint: 'Copy it again.' };
  assert.deepEqual([status, JSON.parse(text)], [422, { error }]);
  assert.deepEqual((await stateOf(port))[1].error, error);
  assert.deepEqual(readdirSync(dropFolder), []);
  for (let i = 0; i < 50; i++) await drop(port, `${i}`, 'x');
  assert.ok((await stateOf(port)).length <= 21, 'failures are not kept for ever');
});

test('more than may be dropped is refused, said beforehand or found on the way', async t => {
  const { port, dropFolder } = await startSmall(t, { largestBytes: 100_000 });
  const said = await drop(port, 'x', Buffer.alloc(5_000_000));
  assert.equal(said.status, 413);
  assert.match(JSON.parse(said.text).error.hint, /stepscope view FILE/);
  assert.equal((await stateOf(port)).length, 1, 'it was not begun');
  const found = await new Promise<number>((resolve, reject) => {
    const sent = http.request(
      {
        host: '127.0.0.1',
        port,
        path: '/api/profiles?name=x',
        method: 'PUT',
        headers: { ...own, ...keyOf(port) },
      },
      answer => resolve(answer.resume().statusCode ?? 0),
    );
    sent.on('error', reject);
    for (let i = 0; i < 30; i++) sent.write(Buffer.alloc(10_000));
    sent.end();
  });
  assert.equal(found, 413);
  assert.deepEqual(readdirSync(dropFolder), []);
  assert.equal((await drop(port, 'x', Buffer.alloc(100_000))).status, 200, 'exactly as much is fine');
});

test('a refusal comes before the body where the sender waits for it', async t => {
  const { port } = await startSmall(t, { largestBytes: 10 });
  const answer = (bytes: number) =>
    new Promise<string>(resolve => {
      const sent = http.request({
        ...{ host: '127.0.0.1', port, path: '/api/profiles?name=x', method: 'PUT' },
        headers: { ...own, ...keyOf(port), Expect: '100-continue', 'Content-Length': bytes },
      });
      sent.on('error', () => {});
      sent.on('continue', () => sent.end(Buffer.alloc(bytes)));
      sent.on('response', response => {
        resolve(`${response.statusCode}`);
        sent.destroy();
      });
      sent.flushHeaders();
    });
  assert.equal(await answer(1000), '413');
  assert.equal(await answer(10), '200');
});

test('a sender that goes away leaves nothing: no file, no entry', async t => {
  let opened = 0;
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(_, name) {
      opened++;
      return smallProfile(name);
    },
  });
  const socket = net.connect(port, '127.0.0.1');
  socket.write(
    `PUT /api/profiles?name=x HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${keyOf(port).authorization}\r\nX-Stepscope: 1\r\nContent-Length: 1000000\r\n\r\n`,
  );
  socket.write(Buffer.alloc(300_000));
  await until('it arrives', () => readdirSync(dropFolder).length === 1);
  assert.equal((await stateOf(port))[1].status, 'opening');
  socket.destroy();
  await until('the folder is gone', () => readdirSync(dropFolder).length === 0);
  await until('the entry is gone', async () => (await stateOf(port)).length === 1);
  assert.equal(opened, 0);
});

test('stopping the server removes what is arriving', async t => {
  const { port, dropFolder, stop } = await startSmall(t);
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    `PUT /api/profiles?name=x HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${keyOf(port).authorization}\r\nX-Stepscope: 1\r\nContent-Length: 1000000\r\n\r\nxxx`,
  );
  await until('it arrives', () => readdirSync(dropFolder).length === 1);
  await stop();
  await until('it is gone', () => readdirSync(dropFolder).length === 0);
  assert.ok(existsSync(dropFolder));
});

test('twenty drop at once; those beyond what is taken at a time are asked to wait', async t => {
  const { port, dropFolder } = await startSmall(t, {
    async openDropped(_, name) {
      await new Promise(resolve => setTimeout(resolve, 200));
      return smallProfile(name);
    },
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => drop(port, `${i}`, 'x'.repeat(1000))),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter(status => status === 200).length, 16);
  assert.equal(statuses.filter(status => status === 503).length, 4);
  assert.deepEqual(readdirSync(dropFolder), []);
});
