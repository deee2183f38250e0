/** Who is let in: no path out of the page's folder, no foreign name, no foreign site, no stranger without the key. */
import assert from 'node:assert/strict';
import * as net from 'node:net';
import { test } from 'node:test';
import { Guard, machineNames } from '../src/server/guard.js';
import { ask, askRaw, startSmall } from './small-server.js';

test('no spelling of a path leads out of the page', async t => {
  const { port, secret } = await startSmall(t);
  const spellings = [
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/..%2fsecret.txt',
    '/%252e%252e/secret.txt',
    '/..%c0%afsecret.txt',
    '/..\\secret.txt',
    '/..%5csecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/....//secret.txt',
    '/./../secret.txt',
    '//secret.txt',
    '//etc/passwd',
    '/etc/passwd',
    '/file:///etc/passwd',
    '/C:/Windows/win.ini',
    '/index.html%00.txt',
    '/../secret.txt%00.html',
    '/__proto__',
    '/constructor',
    '/api/../secret.txt',
    '/api/profiles/../../secret.txt',
    '/api/profiles/1/panels/..%2f..%2fsecret.txt/..',
    '../secret.txt',
    'secret.txt',
    '*',
    'http://localhost/../secret.txt',
    'file:///etc/passwd',
    '/\0/../secret.txt',
    '/\\..\\secret.txt',
  ];
  for (const spelling of spellings) {
    const { status, text } = await askRaw(
      port,
      `GET ${spelling} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`,
    );
    assert.ok([400, 404].includes(status), `${JSON.stringify(spelling)} gives ${status}`);
    assert.ok(!text.includes(secret) && !text.includes('root:'), spelling);
  }
  // The same way of asking does reach what is there.
  const page = await askRaw(port, `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
  assert.equal(page.status, 200);
});

test('a foreign name in Host is refused, whatever it points to', async t => {
  const { port } = await startSmall(t);
  const host = async (name: string) => (await ask(port, '/api/state', { headers: { Host: name } })).status;
  for (const own of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`])
    assert.equal(await host(own), 200, own);
  const foreign = [
    'localhost',
    '127.0.0.1',
    `localhost:${port + 1}`,
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `evil.example@localhost:${port}`,
    `localhost:${port}@evil.example`,
    `localhost.:${port}`,
    `127.0.0.2:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0.0.0.0:${port}`,
  ];
  for (const name of foreign) assert.equal(await host(name), 403, name);
  const old = await askRaw(port, 'GET /api/state HTTP/1.0\r\n\r\n');
  assert.equal(old.status, 403);
  const missing = await askRaw(port, 'GET /api/state HTTP/1.1\r\nConnection: close\r\n\r\n');
  assert.equal(missing.status, 400);
  const page = await ask(port, '/', { headers: { Host: `evil.example:${port}` } });
  assert.equal(page.status, 403);
  assert.equal(page.text.trim().split('\n').length, 2);
});

test("another site's page may neither ask nor send", async t => {
  const { port } = await startSmall(t);
  const own = `http://127.0.0.1:${port}`;
  const state = async (headers: Record<string, string>, address = '/api/state', method = 'GET') =>
    (await ask(port, address, { headers: { Host: `127.0.0.1:${port}`, ...headers }, method })).status;
  assert.equal(await state({ Origin: own }), 200);
  assert.equal(await state({ Origin: own, 'Sec-Fetch-Site': 'same-origin' }), 200);
  assert.equal(await state({ 'Sec-Fetch-Site': 'none' }), 200);
  const origins = [
    'http://evil.example',
    'null',
    `https://127.0.0.1:${port}`,
    'http://127.0.0.1',
    `http://127.0.0.1:${port + 1}`,
    // Ours too, but not the one this request names as its host.
    `http://localhost:${port}`,
    '',
  ];
  for (const origin of origins) assert.equal(await state({ Origin: origin }), 403, origin);
  for (const site of ['cross-site', 'same-site', 'invented']) {
    assert.equal(await state({ 'Sec-Fetch-Site': site }), 403, site);
    assert.equal(await state({ 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'no-cors' }, '/'), 403);
    const visit = { 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    assert.equal(await state(visit, '/'), 200, 'a link to the page');
    assert.equal(await state(visit, '/api/state'), 403, 'a link past the page');
    assert.equal(await state({ ...visit, 'Sec-Fetch-Dest': 'iframe' }, '/'), 403, 'a frame');
    assert.equal(await state(visit, '/', 'PUT'), 403);
  }
});

test('only three methods, and no answer to a preflight', async t => {
  const { port } = await startSmall(t);
  for (const method of ['POST', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    const { status, headers } = await ask(port, '/api/profiles', { method });
    assert.equal(status, 405, method);
    assert.equal(headers.allow, 'GET, HEAD, PUT');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('every answer carries the headers that keep others out', async t => {
  const { port } = await startSmall(t);
  const addresses = [
    '/',
    '/assets/index-CC01uZle.js',
    '/api/state',
    '/api/profiles/1/columns',
    '/missing',
    '/api/no',
  ];
  const answers = await Promise.all(addresses.map(address => ask(port, address)));
  answers.push(await ask(port, '/', { headers: { Host: 'evil.example' } }));
  answers.push(await ask(port, '/', { method: 'POST' }));
  for (const { headers } of answers) {
    const policy = headers['content-security-policy'] as string;
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
      assert.ok(policy.includes(part));
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

for (const host of ['127.0.0.1', '127.0.0.2']) {
  test(`a key is needed at ${host}`, async t => {
    const { port, url } = await startSmall(t, { host });
    const token = new URL(url).searchParams.get('token') ?? '';
    assert.ok(token.length >= 22, 'at least 128 bits');
    assert.equal(url, `http://${host}:${port}/?token=${token}`);
    const own = { Host: `${host}:${port}` };
    const at = (address: string, headers: Record<string, string> = {}) =>
      ask(port, address, { at: host, key: false, headers: { ...own, ...headers } });
    for (const address of [
      '/',
      '/api/state',
      '/assets/index-CC01uZle.js',
      '/missing',
      '/?token=',
      '/?token=x',
    ]) {
      const { status, text, headers } = await at(address);
      assert.equal(status, 401, address);
      assert.doesNotMatch(text, new RegExp(token));
      assert.equal(headers['set-cookie'], undefined);
    }
    assert.equal((await at('/')).text.trim().split('\n').length, 2);
    assert.match(JSON.parse((await at('/api/state')).text).error.hint, /token/);
    assert.equal((await at(`/api/state?token=${token}`)).status, 401, 'the key opens the page alone');
    const entered = await at(`/?token=${token}&steps=3-4`);
    assert.equal(entered.status, 303);
    assert.equal(entered.headers.location, '/?steps=3-4');
    const [cookie, ...attributes] = (entered.headers['set-cookie']?.[0] ?? '').split('; ');
    assert.deepEqual(attributes.sort(), ['HttpOnly', 'Path=/', 'SameSite=Lax']);
    assert.equal((await at('/', { Cookie: cookie })).status, 200);
    assert.equal((await at('/api/state', { Cookie: `other=1; ${cookie}` })).status, 200);
    assert.equal((await at('/api/state', { Cookie: `${cookie}x` })).status, 401);
    assert.equal((await at('/api/state', { Cookie: cookie.replace(/=.*/, '=') })).status, 401);
    assert.equal((await at('/api/state', { Authorization: `Bearer ${token}` })).status, 200);
    assert.equal((await at('/api/state', { Authorization: `Basic ${token}` })).status, 401);
    // The key is not enough: names and sites are looked at all the same.
    assert.equal((await at('/api/state', { Cookie: cookie, Host: `evil.example:${port}` })).status, 403);
    assert.equal((await at('/api/state', { Cookie: cookie, Origin: 'http://evil.example' })).status, 403);
  });
}

test('idle connections do not keep others out', async t => {
  const { port } = await startSmall(t);
  const idle = Array.from({ length: 300 }, () => net.connect(port, '127.0.0.1'));
  for (const socket of idle) socket.on('error', () => {});
  t.after(() => {
    for (const socket of idle) socket.destroy();
  });
  await Promise.all(
    idle.slice(0, 200).map(socket => new Promise(resolve => socket.once('connect', resolve))),
  );
  for (let i = 0; i < 5; i++) assert.equal((await ask(port, '/api/state')).status, 200);
});

test('a key is made anew at each start', async t => {
  const [first, second] = [
    await startSmall(t, { host: '0.0.0.0' }),
    await startSmall(t, { host: '0.0.0.0' }),
  ];
  const tokenOf = (url: string) => new URL(url).searchParams.get('token');
  assert.ok(tokenOf(first.url));
  assert.notEqual(tokenOf(first.url), tokenOf(second.url));
  assert.doesNotMatch(first.url, /0\.0\.0\.0/);
  assert.equal((await ask(first.port, '/', { key: false })).status, 401, 'from this machine too');
});

test('listening everywhere, the machine goes by its own names alone', () => {
  const guard = new Guard('0.0.0.0', 8080);
  const check = (host: string) => guard.check({ headers: { host }, method: 'GET' } as never, '/');
  for (const name of machineNames()) check(`${name.includes(':') ? `[${name}]` : name}:8080`);
  check('localhost:8080');
  assert.throws(() => check('evil.example:8080'), /does not accept the host name/);
  const usual = new Guard('box.example', 80);
  usual.check({ headers: { host: 'Box.Example' }, method: 'GET' } as never, '/');
});

test('a head that grows without end is refused', async t => {
  const { port } = await startSmall(t);
  const long = await askRaw(port, `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nX: ${'x'.repeat(20_000)}`);
  assert.equal(long.status, 431);
});
