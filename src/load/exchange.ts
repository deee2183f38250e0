/**
 * One request and its answer. Times are taken in the first listener of the socket's data, before HTTP is parsed; what
 * is parsed from those bytes belongs to that moment. Nothing here throws: whatever happens becomes a result, once.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Answer, AnswerReader, errorText } from './answer-reader.js';
import { NS_PER_MS, nowNs } from './clock.js';
import { Failure, failureOf } from './failure.js';

export interface Exchange {
  readonly sentNs: number;
  /** Until the name was resolved and the connection stood; absent where one was there already. */
  readonly dnsNs?: number;
  readonly connectNs?: number;
  /** When the first bytes of the answer came. */
  readonly firstByteNs?: number;
  readonly status?: number;
  readonly streamed: boolean;
  readonly answer?: Answer;
  readonly failure?: Failure;
  /** Ended by us. */
  readonly interrupted?: true;
  /** How long the connection had been idle before; absent for a new one. */
  readonly idleNs?: number;
}

interface ExchangeSettings {
  readonly stream: boolean;
  readonly timeoutNs: number;
  /** Told once, when the first piece of the answer has arrived. */
  readonly onFirstPiece?: (() => void) | undefined;
  /** Ways to end what is under way. */
  readonly active: Set<() => void>;
}

/** Of an error's text; the rest is not wanted. */
const MOST_ERROR_BYTES = 16 * 1024;
/** After `[DONE]` only the end of the HTTP message is to come. */
const END_GRACE_MS = 1000;

/** When the bytes now being parsed arrived. Sockets are used again, so it stays with them. */
const arrivals = new WeakMap<Socket, { ns: number }>();

function arrivalOf(socket: Socket): { ns: number } {
  let arrival = arrivals.get(socket);
  if (!arrival) {
    const made = { ns: nowNs() };
    socket.prependListener('data', () => {
      made.ns = nowNs();
    });
    arrivals.set(socket, made);
    arrival = made;
  }
  return arrival;
}

/** What is found out on the way. */
type Seen = {
  -readonly [K in 'dnsNs' | 'connectNs' | 'firstByteNs' | 'status' | 'idleNs']?: Exchange[K];
};

export function exchange(
  open: () => ClientRequest,
  body: Buffer,
  { stream, timeoutNs, onFirstPiece, active }: ExchangeSettings,
): Promise<Exchange> {
  return new Promise(resolve => {
    const sentNs = nowNs();
    let request: ClientRequest | undefined;
    let arrival = { ns: sentNs };
    const seen: Seen = {};
    let streamed = false;
    let reader: AnswerReader | undefined;
    /** The status says it failed; its text is being read. */
    let refusal: Failure | undefined;
    let isSettled = false;
    let grace: NodeJS.Timeout | undefined;

    const settle = (result: Pick<Exchange, 'answer' | 'failure' | 'interrupted'>, keep = false) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      clearTimeout(grace);
      active.delete(cancel);
      if (!keep) request?.destroy();
      resolve({ sentNs, ...seen, streamed, ...result });
    };
    const fail = (error: unknown) =>
      settle({ failure: refusal ?? failureOf(error, seen.firstByteNs !== undefined) });
    const complete = (keep: boolean) => {
      if (isSettled) return;
      try {
        settle({ answer: reader!.end() }, keep);
      } catch (error) {
        fail(error);
      }
    };
    const cancel = () => settle({ interrupted: true });
    active.add(cancel);
    const timer = setTimeout(() => {
      if (reader?.isDone) complete(false);
      else
        fail(new Failure('timeout', seen.firstByteNs === undefined ? 'no response' : 'incomplete response'));
    }, timeoutNs / NS_PER_MS);

    const respond = (response: IncomingMessage) => {
      seen.firstByteNs = arrival.ns;
      const status = response.statusCode ?? 0;
      seen.status = status;
      response.on('error', error => (reader?.isDone ? complete(false) : fail(error)));
      if (status >= 300 && status < 400)
        return fail(new Failure('redirect', `HTTP ${status} to ${placeOf(response.headers.location)}`));
      if (status < 200 || status >= 300) return refuse(response, status);
      const type = response.headers['content-type'] ?? '';
      streamed = stream && !type.includes('json');
      reader = new AnswerReader(streamed);
      response.on('data', (bytes: Buffer) => {
        if (isSettled) return;
        try {
          const hadBegun = reader!.hasBegun;
          reader!.push(bytes, arrival.ns);
          if (!hadBegun && reader!.hasBegun) onFirstPiece?.();
        } catch (error) {
          return fail(error);
        }
        if (reader!.isDone && streamed) grace ??= setTimeout(() => complete(false), END_GRACE_MS);
      });
      response.on('end', () => complete(true));
    };

    const refuse = (response: IncomingMessage, status: number) => {
      const failure = (text: string) =>
        new Failure(`http-${status}`, errorText(jsonOf(text)) ?? response.statusMessage ?? '');
      refusal = failure('');
      let text = '';
      response.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
        if (text.length > MOST_ERROR_BYTES) settle({ failure: failure('') });
      });
      response.on('end', () => settle({ failure: failure(Buffer.from(text, 'latin1').toString()) }, true));
    };

    try {
      request = open();
    } catch (error) {
      return fail(error);
    }
    request.on('error', fail);
    request.on('socket', socket => {
      arrival = arrivalOf(socket);
      if (request!.reusedSocket) seen.idleNs = nowNs() - arrival.ns;
      if (!socket.connecting) return;
      const secure = 'encrypted' in socket;
      socket.once('lookup', () => {
        seen.dnsNs = nowNs() - sentNs;
      });
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        seen.connectNs = nowNs() - sentNs;
      });
    });
    request.on('response', respond);
    // A connection that ends without an error or an answer must not leave us waiting.
    // It is told before the end of an answer is, so the answer gets a turn.
    request.on('close', () => {
      const ended = () => {
        if (reader?.isDone) complete(false);
        else
          fail(
            new Failure(seen.firstByteNs === undefined ? 'reset' : 'cut-off', 'the connection was closed'),
          );
      };
      if (!isSettled) setImmediate(ended);
    });
    request.end(body);
  });
}

/** Without credentials and query: both may hold keys. */
function placeOf(location: string | undefined): string {
  try {
    const { protocol, host, pathname } = new URL(location ?? '', 'http://same-server');
    return `${protocol}//${host}${pathname}`;
  } catch {
    return 'elsewhere';
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
