/**
 * The server of `stepscope view`: the page, and the profiles it draws. Plain HTTP; the machine may have other users, so
 * whoever asks needs the key, wherever the server listens.
 */
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { UserError } from '../base/user-error.js';
import { AccessToken } from './access-token.js';
import { sendRefusal, setSecurityHeaders } from './answers.js';
import { Guard, inUrl, reachableName } from './guard.js';
import { makeRoom } from './make-room.js';
import { asRefusal, SenderGone } from './refusal.js';
import { readRequestTarget } from './request-target.js';
import { answerApi, type Services } from './routes.js';
import { sendStaticFile } from './static-files.js';

export interface ServerOptions extends Services {
  /** A name or address to listen at; by default this machine alone can reach it. */
  readonly host?: string;
  /** By default a free one. */
  readonly port?: number;
}

export interface RunningServer {
  /** What to open in a browser, with the key. */
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Heads of requests are small and come at once; who takes longer is holding a connection for its own sake. */
const HEADERS_TIMEOUT_MS = 20_000;
const MOST_HEADER_BYTES = 16_384;
const MOST_CONNECTIONS = 256;
const KEEP_ALIVE_MS = 30_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { host = '127.0.0.1' } = options;
  let handle: http.RequestListener = (_, response) => void response.destroy();
  const server = http.createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      // Uploads take as long as they take; they are watched for standing still instead.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MOST_HEADER_BYTES,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => handle(request, response),
  );
  // Whether a body is welcome is for the route to say.
  server.on('checkContinue', (request, response) => handle(request, response));
  makeRoom(server, MOST_CONNECTIONS);
  await listen(server, host, options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const guard = new Guard(host, port);
  const token = new AccessToken(port);
  handle = (request, response) => void answer(request, response, options, guard, token);
  const address = `http://${inUrl(reachableName(host))}:${port}/`;
  return {
    url: `${address}?token=${token.text}`,
    port,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
        options.dropped.removeAll();
        options.sql?.close();
      }),
  };
}

async function answer(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  options: ServerOptions,
  guard: Guard,
  token: AccessToken,
): Promise<void> {
  // A connection that breaks is the other side's right.
  response.on('error', () => {});
  setSecurityHeaders(response);
  try {
    const target = readRequestTarget(request.url ?? '');
    guard.check(request, target.path);
    if (token.admit(request, response, target)) return;
    if (target.path.startsWith('/api/')) await answerApi(request, response, target, options);
    else sendStaticFile(response, options.page, target.path);
  } catch (error) {
    if (error instanceof SenderGone) return;
    sendRefusal(request, response, asRefusal(error));
  }
}

function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): UserError {
  if (error.code === 'EADDRINUSE')
    return new UserError('usage', `Port ${port} is already in use.`, 'Choose another --port, or omit it.');
  if (error.code === 'EACCES')
    return new UserError('usage', `This user may not use port ${port}.`, 'Choose a --port above 1023.');
  return new UserError(
    'usage',
    `The server cannot listen at ${host}: ${error.message}`,
    'Give an address of this machine with --host, or omit it.',
  );
}
