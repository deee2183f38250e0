/** The server of `stepscope view` as a transport: addresses, ranges, streams, errors, many clients. */
import assert from 'node:assert/strict';
import * as net from 'node:net';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { readRange } from '../src/server/ranges.js';
import { readStaticFiles } from '../src/server/static-files.js';
import { ask, columnBytes, keyOf, smallProfile, startSmall } from './small-server.js';

const until = async (what: string, isSo: () => boolean) => {
  for (let i = 0; i < 500; i++) {
    if (isSo()) return;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  assert.fail(`never: ${what}`);
};

test('every address of the table reaches what it names', async t => {
  const { port } = await startSmall(t);
  const documents: [address: string, asked: unknown[]][] = [
    ['timeline', ['timeline']],
    ['events/3/17', ['event', 3, 17]],
    ['search?q=flash%20fwd', ['search', 'flash fwd']],
    ['search?q=a%2Bb', ['search', 'a+b']],
    ['search/match?q=x&n=4', ['match', 'x', { n: 4 }]],
    ['search/match?q=x&near=-1.5', ['match', 'x', { near: -1.5 }]],
    ['answer', ['answer', null]],
    ['answer?steps=3-12', ['answer', { first: 3, last: 12 }]],
    ['panels/step-budget', ['panel', 'step-budget', null]],
    ['flame?steps=2-4', ['flame', { first: 2, last: 4 }]],
    ['panels/a%2Fb?steps=5', ['panel', 'a/b', { first: 5, last: 5 }]],
  ];
  for (const [address, asked] of documents) {
    const { status, text, headers } = await ask(port, `/api/profiles/1/${address}`);
    assert.equal(status, 200, address);
    assert.deepEqual(JSON.parse(text), { asked }, address);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(headers['cache-control'], 'no-store');
  }
  assert.deepEqual(JSON.parse((await ask(port, '/api/profiles/1/labels/2')).text), ['label of page 2']);
  assert.deepEqual((await ask(port, '/api/profiles/1/columns')).body, Buffer.from(columnBytes));
  assert.equal((await ask(port, '/api/profiles/1/search/columns?q=abc')).text, 'abc');
  assert.deepEqual(JSON.parse((await ask(port, '/api/state')).text), {
    version: '1.2.3',
    profiles: [{ id: 1, name: 'small.sqlite.gz', status: 'ready', done: 1 }],
    compare: null,
  });
});

test('what cannot be read in an address is said in two lines', async t => {
  const { port } = await startSmall(t);
  const cases: [address: string, status: number, message: RegExp][] = [
    ['profiles/2/timeline', 404, /Profile 2 does not exist/],
    ['profiles/one/timeline', 400, /"one" is not a valid profile/],
    ['profiles/1/events/99/0', 404, /no lane 99/],
    ['profiles/1/events/-1/0', 400, /"-1" is not a valid lane/],
    ['profiles/1/events/1/1e9', 400, /"1e9" is not a valid event/],
    ['profiles/1/labels/0x10', 400, /"0x10" is not a valid page/],
    ['profiles/1/answer?steps=12-3', 400, /"12-3" is not a valid span of steps/],
    ['profiles/1/search/match?q=x', 400, /"" is not a valid match/],
    ['profiles/1/events.csv?from=NaN', 400, /"NaN" is not a valid time/],
    ['profiles/1/panels/%E0%A4%A', 400, /not correctly URL-encoded/],
    ['profiles/1/nothing', 404, /address does not exist/],
    ['profiles/1/traceXjson', 404, /address does not exist/],
    ['', 404, /address does not exist/],
    [`profiles/1/search?q=${'x'.repeat(9000)}`, 414, /too long/],
  ];
  for (const [address, status, message] of cases) {
    const answer = await ask(port, `/api/${address}`);
    assert.equal(answer.status, status, address);
    const { error } = JSON.parse(answer.text);
    assert.match(error.message, message);
    assert.match(error.hint, /\S/);
  }
  const put = await ask(port, '/api/state', { method: 'PUT', headers: { 'X-Stepscope': '1' }, body: '' });
  assert.equal(put.status, 405);
  assert.equal(put.headers.allow, 'GET, HEAD');
});

test('a bug of ours is two lines without our insides', async t => {
  const { port } = await startSmall(t);
  const { status, text } = await ask(port, '/api/profiles/1/panels/bug');
  assert.equal(status, 500);
  assert.match(JSON.parse(text).error.message, /bug/);
  assert.doesNotMatch(text, /secret|TypeError|\.js/);
});

test('a profile that is being opened, or could not be, says so', async t => {
  const { port, profiles } = await startSmall(t);
  let finish = () => {};
  let next = () => {};
  const opening = profiles.open('slow', async ({ onProgress, onPhase }) => {
    onProgress('slow', 0.25);
    await new Promise<void>(resolve => (next = resolve));
    onPhase('Finding steps');
    await new Promise<void>(resolve => (finish = resolve));
    throw new UserError('damaged', 'slow is damaged.', 'Copy it again.');
  });
  const state = async () => JSON.parse((await ask(port, '/api/state')).text).profiles[1];
  const slow = { id: 2, name: 'slow' };
  assert.deepEqual(await state(), { ...slow, status: 'opening', done: 0.25, doing: 'Reading slow' });
  next();
  assert.deepEqual(await state(), { ...slow, status: 'opening', done: 0, doing: 'Finding steps' });
  await new Promise(resolve => setTimeout(resolve, 60));
  assert.equal((await ask(port, '/api/profiles/2/timeline')).status, 409);
  finish();
  await assert.rejects(opening);
  const error = { message: 'slow is damaged.', hint: 'Copy it again.' };
  assert.deepEqual(await state(), { ...slow, status: 'failed', done: 0, error });
  assert.deepEqual(JSON.parse((await ask(port, '/api/profiles/2/timeline')).text), { error });
});

test('ranges as RFC 9110 has them', () => {
  const whole = undefined;
  const none = null;
  const cases: [header: string | undefined, expected: [number, number] | null | undefined][] = [
    [undefined, whole],
    ['bytes=0-0', [0, 1]],
    ['bytes=0-99', [0, 100]],
    ['bytes=10-', [10, 100]],
    ['bytes=99-', [99, 100]],
    ['bytes=-1', [99, 100]],
    ['bytes=-1000', [0, 100]],
    ['Bytes=5-7', [5, 8]],
    ['bytes=50-1000', [50, 100]],
    [`bytes=50-${'9'.repeat(400)}`, [50, 100]],
    ['bytes=100-', none],
    ['bytes=100-200', none],
    ['bytes=7-5', none],
    ['bytes=-0', none],
    ['bytes=-', none],
    ['bytes=', none],
    ['bytes=0-1,4-5', none],
    ['bytes=a-b', none],
    ['bytes=1.5-3', none],
    [`bytes=${'9'.repeat(400)}-`, none],
    ['lines=0-3', whole],
  ];
  for (const [header, expected] of cases) {
    const range = readRange(header, 100);
    assert.deepEqual(range ? [range.from, range.to] : range, expected, header);
  }
  assert.equal(readRange('bytes=0-', 0), null);
  assert.equal(readRange('bytes=-5', 0), null);
});

test('ranges of columns over the wire', async t => {
  const { port } = await startSmall(t);
  const columns = (headers: Record<string, string>, method = 'GET') =>
    ask(port, '/api/profiles/1/columns', { method, headers });
  const part = await columns({ Range: 'bytes=1000-1999' });
  assert.equal(part.status, 206);
  assert.equal(part.headers['content-range'], 'bytes 1000-1999/5000');
  assert.equal(part.headers['content-length'], '1000');
  assert.deepEqual(part.body, Buffer.from(columnBytes.subarray(1000, 2000)));
  const beyond = await columns({ Range: 'bytes=5000-' });
  assert.equal(beyond.status, 416);
  assert.equal(beyond.headers['content-range'], 'bytes */5000');
  assert.match(JSON.parse(beyond.text).error.message, /5000/);
  const head = await columns({ Range: 'bytes=0-9' }, 'HEAD');
  assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '5000', 0]);
  assert.equal(head.headers['accept-ranges'], 'bytes');
  // We hand out no versions, so a condition on one cannot hold.
  const conditional = await columns({ Range: 'bytes=0-9', 'If-Range': '"v1"' });
  assert.deepEqual([conditional.status, conditional.body.length], [200, 5000]);
});

test('downloads carry a name that is safe on any disk and in any header', async t => {
  const hostile = smallProfile('../"; filename="evil.exe\r\nSet-Cookie: a=b <img src=x>.sqlite.gz');
  const { port, profiles } = await startSmall(t, { view: hostile });
  const trace = await ask(port, '/api/profiles/1/trace.json?from=-5&to=1e9');
  assert.equal(trace.status, 200);
  assert.deepEqual(JSON.parse(trace.text), { traceEvents: [['-5', '1000000000']] });
  const disposition = trace.headers['content-disposition'] ?? '';
  assert.match(disposition, /^attachment; filename="[\w-][\w.-]*\.trace\.json"$/);
  assert.equal(trace.headers['set-cookie'], undefined);
  await profiles.open('plain', async () => smallProfile('run 12.json.gz'));
  const csv = await ask(port, '/api/profiles/2/events.csv');
  assert.equal(csv.headers['content-disposition'], 'attachment; filename="run-12.events.csv"');
  assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(csv.text, 'from,to\n-Infinity,Infinity\n');
  const head = await ask(port, '/api/profiles/2/events.csv', { method: 'HEAD' });
  assert.deepEqual([head.status, head.body.length], [200, 0]);
});

test('the page comes from memory, hashed files for good, the rest anew', async t => {
  const { port } = await startSmall(t);
  const page = await ask(port, '/');
  assert.equal(page.status, 200);
  assert.match(page.text, /<title>Stepscope/);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.equal(page.headers['cache-control'], 'no-cache');
  for (const asset of ['/assets/index-CC01uZle.js', '/assets/index-a_-4uZle.css']) {
    const { status, headers } = await ask(port, asset);
    assert.equal(status, 200);
    assert.match(headers['cache-control'] ?? '', /immutable/);
  }
  const missing = await ask(port, '/favicon.ico');
  assert.equal(missing.status, 404);
  assert.equal(missing.text.trim().split('\n').length, 2);
  assert.equal(missing.headers['cache-control'], 'no-store');
  assert.throws(() => readStaticFiles('/nowhere'), /not built/);
});

test('a client that goes away in the middle of a download stops the making of it', async t => {
  let made = 0;
  let ended = false;
  const view = smallProfile('endless', {
    *csv() {
      try {
        while (true) {
          made++;
          yield 'x'.repeat(100_000);
        }
      } finally {
        ended = true;
      }
    },
  });
  const { port } = await startSmall(t, { view });
  const socket = net.connect(port, '127.0.0.1');
  socket.write(
    `GET /api/profiles/1/events.csv HTTP/1.1\r\nHost: localhost:${port}\r\nAuthorization: ${keyOf(port).authorization}\r\n\r\n`,
  );
  await new Promise(resolve => socket.once('data', resolve));
  socket.pause();
  await new Promise(resolve => setTimeout(resolve, 300));
  const whilePaused = made;
  await new Promise(resolve => setTimeout(resolve, 300));
  assert.equal(made, whilePaused, 'more is made than is read');
  // Others are answered meanwhile.
  assert.equal((await ask(port, '/api/state')).status, 200);
  socket.destroy();
  await until('the download is given up', () => ended);
  assert.equal((await ask(port, '/api/state')).status, 200);
});

test('a download that fails half way does not look whole', async t => {
  const view = smallProfile('half', {
    *csv() {
      yield 'x'.repeat(200_000);
      throw new Error('broken');
    },
  });
  const { port } = await startSmall(t, { view });
  await assert.rejects(ask(port, '/api/profiles/1/events.csv'), /aborted|hang up|ECONNRESET/);
});

test('work for a client that is gone already is not begun', async t => {
  let asked = 0;
  const view = smallProfile('slow', {
    answer() {
      asked++;
      return { lines: [], hasFigures: false, gain: null };
    },
  });
  const { port } = await startSmall(t, { view });
  const question = `GET /api/profiles/1/answer HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
  const impatient = Array.from({ length: 20 }, () => net.connect(port, '127.0.0.1'));
  await Promise.all(impatient.map(socket => new Promise(resolve => socket.once('connect', resolve))));
  for (const socket of impatient) {
    socket.write(question);
    socket.destroy();
  }
  assert.equal((await ask(port, '/api/profiles/1/answer')).status, 200);
  assert.equal(asked, 1);
});

test('twenty clients at once, each with a hundred ranges', async t => {
  const { port } = await startSmall(t);
  const client = async (seed: number) => {
    for (let i = 0; i < 100; i++) {
      const from = (seed * 211 + i * 37) % 4900;
      const range = { Range: `bytes=${from}-${from + 99}` };
      const { status, body } = await ask(port, '/api/profiles/1/columns', { headers: range });
      assert.equal(status, 206);
      assert.deepEqual(body, Buffer.from(columnBytes.subarray(from, from + 100)));
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, seed) => client(seed)));
});
