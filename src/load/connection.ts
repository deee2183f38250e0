/**
 * The way to the server: connections that are kept, as many as there are requests at the same time, and all headers.
 * Secrets live here and in nothing that is printed or written.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { NS_PER_SECOND, nowNs } from './clock.js';
import { type Exchange, exchange } from './exchange.js';
import type { Target } from './target.js';

interface ConnectionSettings {
  readonly target: Target;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutNs: number;
  /** Use connections again. */
  readonly keepAlive: boolean;
  /** Take any certificate. */
  readonly insecure: boolean;
}

/** Servers close connections that were idle for some seconds; one that was used just now was not closed for that. */
const LEAST_IDLE_NS = NS_PER_SECOND;
/** And the answer that it is closed comes at once. */
const MOST_NOTICE_NS = NS_PER_SECOND;
/** Of kept connections; the next one is new or works. */
const MOST_RETRIES = 5;
const MOST_DOCUMENT_BYTES = 4 * 1024 * 1024;

export class Connection {
  private readonly agent: http.Agent;
  private readonly active = new Set<() => void>();
  /** Requests sent again because a kept connection had been closed at that moment. */
  retries = 0;

  constructor(private readonly settings: ConnectionSettings) {
    const options: http.AgentOptions = {
      keepAlive: settings.keepAlive,
      maxSockets: Infinity,
      maxFreeSockets: Infinity,
      noDelay: true,
    };
    this.agent = settings.target.secure
      ? new https.Agent({ ...options, rejectUnauthorized: !settings.insecure })
      : new http.Agent(options);
  }

  async post(body: Buffer, stream: boolean, onFirstPiece?: () => void): Promise<Exchange> {
    const { target, headers, timeoutNs } = this.settings;
    const open = () =>
      this.request(target.path, 'POST', {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        ...headers,
        'content-length': String(body.length),
      });
    const beginNs = nowNs();
    for (let retry = 0; ; retry++) {
      const left = timeoutNs - (nowNs() - beginNs);
      const result = await exchange(open, body, {
        ...{ stream, timeoutNs: left, onFirstPiece, active: this.active },
      });
      if (!wasStale(result) || retry === MOST_RETRIES) return { ...result, sentNs: beginNs };
      this.retries++;
    }
  }

  /** A JSON document of the server, undefined if there is none. */
  async get(path: string): Promise<unknown> {
    const text = await this.document(path, 'application/json', this.agent);
    return text === undefined ? undefined : parsed(text);
  }

  /** On a connection of its own: the kept ones are for what is measured. */
  getText(path: string): Promise<string | undefined> {
    return this.document(path, '*/*', false);
  }

  private document(path: string, accept: string, agent: http.Agent | false): Promise<string | undefined> {
    return new Promise(resolve => {
      const request = this.request(path, 'GET', { accept, ...this.settings.headers }, agent);
      const stop = () => request.destroy();
      const timer = setTimeout(stop, Math.min(10, this.settings.timeoutNs / NS_PER_SECOND) * 1000);
      this.active.add(stop);
      let text = '';
      let status = 0;
      request.on('error', () => {});
      request.on('close', () => {
        clearTimeout(timer);
        this.active.delete(stop);
        resolve(status === 200 ? text : undefined);
      });
      request.on('response', response => {
        status = response.statusCode ?? 0;
        response.setEncoding('utf8');
        response.on('error', () => {});
        response.on('data', (piece: string) => {
          text += piece;
          if (text.length > MOST_DOCUMENT_BYTES) stop();
        });
      });
      request.end();
    });
  }

  /** Ends what is under way; it counts as interrupted. */
  cancelAll(): void {
    for (const cancel of [...this.active]) cancel();
  }

  /** Leaves no connection behind. */
  close(): void {
    this.cancelAll();
    this.agent.destroy();
  }

  private request(
    path: string,
    method: string,
    headers: Record<string, string>,
    agent: http.Agent | false = this.agent,
  ): http.ClientRequest {
    const { target, insecure } = this.settings;
    const { host, port } = target;
    const options = { agent, host, port, path, method, headers, rejectUnauthorized: !insecure };
    return target.secure ? https.request(options) : http.request(options);
  }
}

/** The server closed an idle connection while the request was on its way: no failure of this request. */
const wasStale = ({ failure, idleNs = 0, firstByteNs, sentNs }: Exchange) =>
  failure?.kind === 'reset' &&
  firstByteNs === undefined &&
  idleNs >= LEAST_IDLE_NS &&
  nowNs() - sentNs < MOST_NOTICE_NS;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
