/** Results into S3-compatible storage and folders. The signature is checked against AWS's own published example. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { objectUrl, readS3Place, signedHeaders } from '../src/capture/run/s3-request.js';
import { openStore } from '../src/capture/run/store-results.js';

const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-store-'));
after(() => fs.rmSync(work, { recursive: true }));

const KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html, “Example: PUT Object”. */
test('a PUT is signed as in the documentation of S3', () => {
  const place = { ...readS3Place('s3://examplebucket', KEYS), endpoint: undefined, region: 'us-east-1' };
  const content = createHash('sha256').update('Welcome to Amazon S3.').digest('hex');
  const url = new URL('https://examplebucket.s3.amazonaws.com/test%24file.text');
  const headers = signedHeaders(place, url, content, new Date('2013-05-24T00:00:00Z'), {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
  });
  assert.equal(
    headers.authorization,
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  );
});

test('where an object goes: by name at AWS, by path elsewhere', () => {
  const aws = readS3Place('s3://profiles/llm/8b/', { ...KEYS, AWS_REGION: 'eu-west-1' });
  assert.equal(
    objectUrl(aws, "a b'$.json").href,
    'https://profiles.s3.eu-west-1.amazonaws.com/llm/8b/a%20b%27%24.json',
  );
  const minio = readS3Place('s3://profiles', { ...KEYS, AWS_ENDPOINT_URL: 'http://minio:9000/' });
  assert.equal(objectUrl(minio, 'trace.nsys-rep').href, 'http://minio:9000/profiles/trace.nsys-rep');
});

test('mistakes are found before a capture', () => {
  for (const [place, env, words] of [
    ['s3://profiles', {}, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set/],
    ['s3:profiles', KEYS, /is not an S3 address/],
    [path.join(process.execPath, 'volume'), {}, /is not writable/],
  ] as const)
    assert.throws(
      () => openStore(place, env),
      (error: unknown) => error instanceof UserError && words.test(error.message),
    );
});

test('files arrive whole; a refusal is an error that keeps them here', async () => {
  const file = path.join(work, 'trace.json');
  fs.writeFileSync(file, 'x'.repeat(100_000));
  const taken: { url: string; bytes: number; hash: string }[] = [];
  let status = 200;
  const server = http.createServer((request, response) => {
    const hash = createHash('sha256');
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on('end', () => {
      const told = String(request.headers['x-amz-content-sha256']);
      const same = told === hash.digest('hex') && bytes === Number(request.headers['content-length']);
      taken.push({ url: `${request.method} ${request.url}`, bytes, hash: same ? 'same' : 'other' });
      response.statusCode = status;
      response.end(status === 200 ? '' : '<Error><Code>SignatureDoesNotMatch</Code></Error>');
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const env = { ...KEYS, AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const store = openStore('s3://profiles/llm', env);
  const stored: string[] = [];
  await store.put([file], (_, where) => stored.push(where));
  assert.deepEqual(stored, ['s3://profiles/llm/trace.json']);
  assert.deepEqual(taken, [{ url: 'PUT /profiles/llm/trace.json', bytes: 100_000, hash: 'same' }]);
  status = 403;
  await assert.rejects(
    store.put([file], () => {}),
    /did not take trace\.json: SignatureDoesNotMatch/,
  );
  server.close();
  server.closeAllConnections();
  await assert.rejects(
    store.put([file], () => {}),
    /does not respond: ECONNREFUSED/,
  );
  assert.ok(fs.existsSync(file));
});

test('a folder gets whole files, and nothing of another content is replaced', async () => {
  const file = path.join(work, 'a.nsys-rep');
  fs.writeFileSync(file, 'report');
  const volume = path.join(work, 'volume/deep');
  const store = openStore(volume, {});
  await store.put([file], () => {});
  await store.put([file], () => {});
  assert.deepEqual(fs.readdirSync(volume), ['a.nsys-rep']);
  fs.writeFileSync(file, 'another');
  await assert.rejects(
    store.put([file], () => {}),
    /already exists/,
  );
  assert.equal(fs.readFileSync(path.join(volume, 'a.nsys-rep'), 'utf8'), 'report');
});
