/**
 * One object into S3-compatible storage: a signed PUT (AWS Signature Version 4, with the hash of the content), as
 * AWS, MinIO, Ceph, GCS and R2 take it. Credentials come from the environment, as for every AWS tool.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 */
import { createHash, createHmac } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../../base/user-error.js';

interface S3Place {
  readonly bucket: string;
  /** Without a slash at either end; may be empty. */
  readonly prefix: string;
  /** Where the bucket is a part of the path; absent for AWS, where it is a part of the name. */
  readonly endpoint?: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly sessionToken?: string;
}

/** A single PUT takes no more. */
export const MOST_BYTES = 5 * 2 ** 30;

export function readS3Place(url: string, env: NodeJS.ProcessEnv): S3Place {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(url);
  if (!match)
    throw new UserError(
      'usage',
      `${JSON.stringify(url)} is not an S3 address.`,
      'For example: --store s3://bucket/folder',
    );
  const { AWS_ACCESS_KEY_ID: accessKey, AWS_SECRET_ACCESS_KEY: secretKey } = env;
  if (!accessKey || !secretKey)
    throw new UserError(
      'usage',
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set.',
      'Set them, and AWS_ENDPOINT_URL if the storage is not AWS (MinIO, Ceph, R2).',
    );
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  return {
    bucket: match[1],
    prefix: (match[2] ?? '').replace(/^\/+|\/+$/g, ''),
    ...(endpoint ? { endpoint: endpoint.replace(/\/+$/, '') } : {}),
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    accessKey,
    secretKey,
    ...(env.AWS_SESSION_TOKEN ? { sessionToken: env.AWS_SESSION_TOKEN } : {}),
  };
}

/** Every byte but those that need no escape; a slash divides. */
const escaped = (text: string): string =>
  text
    .split('/')
    .map(part =>
      encodeURIComponent(part).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
    )
    .join('/');

export function objectUrl(place: S3Place, name: string): URL {
  const key = escaped(place.prefix === '' ? name : `${place.prefix}/${name}`);
  return new URL(
    place.endpoint === undefined
      ? `https://${place.bucket}.s3.${place.region}.amazonaws.com/${key}`
      : `${place.endpoint}/${place.bucket}/${key}`,
  );
}

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/** The headers of a PUT; `more` are signed too. */
export function signedHeaders(
  place: S3Place,
  url: URL,
  sha256: string,
  now: Date,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const scope = `${time.slice(0, 8)}/${place.region}/s3/aws4_request`;
  const headers: Record<string, string> = {
    ...more,
    host: url.host,
    'x-amz-content-sha256': sha256,
    'x-amz-date': time,
    ...(place.sessionToken === undefined ? {} : { 'x-amz-security-token': place.sessionToken }),
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    'PUT',
    url.pathname,
    '',
    ...names.map(name => `${name}:${headers[name].trim()}`),
    '',
    names.join(';'),
    sha256,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const key = scope
    .split('/')
    .reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${place.secretKey}`);
  const signature = createHmac('sha256', key).update(toSign).digest('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${place.accessKey}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  };
}

export async function putObject(place: S3Place, name: string, file: string, sha256: string): Promise<URL> {
  const url = objectUrl(place, name);
  const { size } = fs.statSync(file);
  const headers = { ...signedHeaders(place, url, sha256, new Date()), 'content-length': String(size) };
  const { status, text } = await send(url, headers, file);
  if (status >= 200 && status < 300) return url;
  const code = /<Code>([^<]+)<\/Code>/.exec(text)?.[1];
  throw new UserError(
    'unreachable',
    `${url.host} did not take ${name}: ${code ?? `HTTP ${status}`}.`,
    code === 'SignatureDoesNotMatch' || code === 'InvalidAccessKeyId' || status === 403
      ? 'Check the keys, AWS_REGION, and that the key may write to the bucket. The files are kept here.'
      : 'Check the bucket and AWS_ENDPOINT_URL. The files are kept here.',
  );
}

function send(
  url: URL,
  headers: Record<string, string>,
  file: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) =>
      reject(
        new UserError(
          'unreachable',
          `${url.host} does not respond: ${(error as NodeJS.ErrnoException).code ?? error.message}.`,
          'Check AWS_ENDPOINT_URL. The files are kept here.',
        ),
      );
    const request = (url.protocol === 'http:' ? http : https).request(
      url,
      { method: 'PUT', headers },
      answer => {
        let text = '';
        answer
          .setEncoding('utf8')
          .on('data', (chunk: string) => void (text = (text + chunk).slice(0, 1 << 16)));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.on('error', failed);
      },
    );
    request.on('error', failed);
    // A refusal may arrive, and the connection end, before everything was sent.
    pipeline(fs.createReadStream(file), request).catch(() => {});
  });
}
