/**
 * An inference server for tests, in a process of its own so that its clock does not wait for the client's event loop.
 * It writes bytes, not HTTP through a library: most of what it does is wrong on purpose. The first part of the path is
 * what it does with a request (`/timed/v1/completions`); `/mix:a,b` does one after the other. It notes when requests
 * came and when it wrote each piece, and tells on request.
 */
import * as net from 'node:net';

interface Ask {
  readonly socket: net.Socket;
  readonly path: string;
  readonly headers: string;
  readonly body: Record<string, unknown>;
  readonly arrivedMs: number;
}

export interface Truth {
  readonly arrivedMs: number;
  readonly pieceMs: number[];
  readonly body: Record<string, unknown>;
}

const truths: Truth[] = [];
const connections = new Set<net.Socket>();
let accepted = 0;
let turn = 0;
const lastUse = new WeakMap<net.Socket, number>();
let closedIdle = 0;
let stallBegunMs: number | undefined;

const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
/** Between 0 and 1, the same in every run. */
let state = 1;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;

const chunk = (text: string | Buffer) => {
  const bytes = Buffer.from(text as string);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};
const END = '0\r\n\r\n';
const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const piece = (text: string, finish: string | null = null) =>
  event({ choices: [{ index: 0, text, finish_reason: finish }] });
const usageOf = ({ body }: Ask, tokens: number) => ({
  prompt_tokens: promptWords(body) + 1,
  completion_tokens: tokens,
});
const promptWords = ({ prompt, messages }: Record<string, unknown>) =>
  Array.isArray(prompt) ? prompt.length : String(prompt ?? JSON.stringify(messages)).split(' ').length;

const head = (socket: net.Socket, type = 'text/event-stream', status = '200 OK') =>
  socket.write(`HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);

function whole(socket: net.Socket, status: string, body: string, more = ''): void {
  const length = Buffer.byteLength(body);
  socket.write(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${more}Content-Length: ${length}\r\n\r\n${body}`,
  );
}

/** A sound answer: pieces at set times, usage, [DONE]. */
async function timed(ask: Ask, settings: { withUsage?: boolean; chat?: boolean } = {}): Promise<void> {
  const { socket, body } = ask;
  const { ttft_ms: ttft = 0, gap_ms: gap = 0, spread = 0 } = body as Record<string, number>;
  const tokens = Number(body.max_tokens);
  const truth: Truth = { arrivedMs: ask.arrivedMs, pieceMs: [], body };
  truths.push(truth);
  const around = (ms: number) => ms * (1 + spread * (2 * random() - 1));
  if (body.stream === false) {
    await wait(around(ttft));
    const choice = { text: 'word '.repeat(tokens), message: { content: 'x' }, finish_reason: 'length' };
    whole(socket, '200 OK', JSON.stringify({ choices: [choice], usage: usageOf(ask, tokens) }));
    return;
  }
  const deliver = (text: string, finish: string | null) =>
    settings.chat
      ? event({ choices: [{ delta: { content: text }, finish_reason: finish }] })
      : piece(text, finish);
  head(socket);
  // The role comes long before the first token; a client that takes it for one is far off.
  if (settings.chat) socket.write(chunk(event({ choices: [{ delta: { role: 'assistant', content: '' } }] })));
  await wait(around(ttft));
  for (let i = 0; i < tokens && !socket.destroyed; i++) {
    if (i > 0) await wait(around(gap));
    const text = chunk(deliver(`é${i}`, i === tokens - 1 ? 'length' : null));
    truth.pieceMs.push(performance.now());
    socket.write(text);
  }
  const options = body.stream_options as { include_usage?: boolean } | undefined;
  const usage =
    options?.include_usage && settings.withUsage !== false
      ? event({ choices: [], usage: usageOf(ask, tokens) })
      : '';
  socket.write(Buffer.concat([chunk(`${usage}data: [DONE]\n\n`), Buffer.from(END)]));
}

const kinds: Readonly<Record<string, (ask: Ask) => Promise<void> | void>> = {
  timed: ask => timed(ask, { chat: ask.path.includes('/chat/') }),
  'without-usage': ask => timed(ask, { withUsage: false }),
  reset: ({ socket }) => void socket.resetAndDestroy(),
  'close-at-once': ({ socket }) => void socket.end(),
  hang: () => {},
  'slow-loris': async ({ socket }) => {
    head(socket);
    while (!socket.destroyed) {
      socket.write(chunk(':'));
      await wait(20);
    }
  },
  'slow-head': async ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    while (!socket.destroyed) {
      socket.write('x');
      await wait(20);
    }
  },
  'half-closed': ({ socket }) => {
    head(socket);
    socket.end(chunk(piece('a')));
  },
  'without-done': ({ socket }) => {
    head(socket);
    socket.write(Buffer.concat([chunk(piece('a')), Buffer.from(END)]));
  },
  'finished-without-done': ({ socket }) => {
    head(socket);
    socket.write(Buffer.concat([chunk(piece('a') + piece('b', 'stop')), Buffer.from(END)]));
  },
  'left-open': ({ socket }) => {
    head(socket);
    socket.write(chunk(`${piece('a')}${piece('b', 'stop')}data: [DONE]\n\n`));
  },
  'bad-json': ({ socket }) => {
    head(socket);
    socket.write(Buffer.concat([chunk(`${piece('a')}data: {"choices": [\n\n`), Buffer.from(END)]));
  },
  'bad-event': ({ socket }) => {
    head(socket);
    socket.write(Buffer.concat([chunk('<html>it works</html>\n\n'), Buffer.from(END)]));
  },
  'bad-chunk': ({ socket }) => {
    head(socket);
    socket.write('zzz\r\nwhat\r\n');
  },
  'bad-head': ({ socket }) => void socket.write('SMTP ready\r\n\r\n'),
  'bad-utf8': ({ socket }) => {
    head(socket);
    socket.write(
      Buffer.concat([
        chunk(
          Buffer.from([
            ...Buffer.from('data: {"choices":[{"text":"'),
            0xff,
            0xfe,
            ...Buffer.from('"}]}\n\n'),
          ]),
        ),
        Buffer.from(END),
      ]),
    );
  },
  'split-utf8': async ({ socket }) => {
    head(socket);
    const bytes = Buffer.from(`${piece('漢字🙂')}${piece('é', 'stop')}data: [DONE]\r\n\r\n`);
    for (const byte of bytes) {
      socket.write(chunk(Buffer.from([byte])));
      await wait(0);
    }
    socket.write(END);
  },
  'giant-line': ({ socket }) => {
    head(socket);
    socket.write(chunk('data: {"x":"'));
    const more = () => {
      while (!socket.destroyed && socket.write(chunk('y'.repeat(1 << 16))));
    };
    socket.on('drain', more);
    more();
  },
  'giant-head': ({ socket }) =>
    void socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'y'.repeat(1 << 17)}\r\n\r\n`),
  'error-event': ({ socket }) => {
    head(socket);
    socket.write(
      Buffer.concat([chunk(event({ error: { message: 'out of KV cache blocks' } })), Buffer.from(END)]),
    );
  },
  empty: ({ socket }) => {
    head(socket);
    socket.write(Buffer.concat([chunk(`${piece('', 'stop')}data: [DONE]\n\n`), Buffer.from(END)]));
  },
  'http-429': ({ socket }) => whole(socket, '429 Too Many Requests', '{"error":{"message":"slow down"}}'),
  'http-500': ({ socket }) => whole(socket, '500 Internal Server Error', '<html>oops</html>'),
  'http-401': ({ socket }) => whole(socket, '401 Unauthorized', '{"error":{"message":"no"}}'),
  /** Repeats what it was sent, as validators do. */
  echo: ({ socket, headers, body }) => {
    const lines = headers.split('\r\n').filter(line => /^(authorization|x-tenant)/i.test(line));
    const msg = `bad: ${body.prompt} with ${lines.join(' and ')}`;
    whole(socket, '503 Unavailable', JSON.stringify({ detail: [{ msg, input: body.prompt }] }));
  },
  'http-400': ask => {
    truths.push({ arrivedMs: ask.arrivedMs, pieceMs: [], body: ask.body });
    whole(ask.socket, '400 Bad Request', '{"message":"The model `` does not exist."}');
  },
  /** Takes short prompts only, as a model of small context. */
  'short-context': ask =>
    promptWords(ask.body) > 100
      ? whole(ask.socket, '400 Bad Request', '{"error":{"message":"maximum context length is 100 tokens"}}')
      : timed(ask),
  redirect: ({ socket }) =>
    whole(socket, '307 Temporary Redirect', '', 'Location: https://elsewhere.example/v1?key=hidden\r\n'),
  /** Takes only the fields of the original API. */
  strict: ask =>
    'ignore_eos' in ask.body || 'min_tokens' in ask.body
      ? whole(ask.socket, '400 Bad Request', '{"error":{"message":"Unrecognized request argument"}}')
      : timed(ask),
  /** Closes connections that were idle for a second just when the next request comes. */
  'closes-idle': async ask => {
    const idleSinceMs = lastUse.get(ask.socket) ?? Infinity;
    if (ask.arrivedMs - idleSinceMs > 1000) {
      closedIdle++;
      ask.socket.resetAndDestroy();
      return;
    }
    await timed(ask);
    lastUse.set(ask.socket, performance.now());
  },
  /** Answers nothing for a second, beginning a second after the first request that is no trial. */
  stall: async ask => {
    if (ask.body.max_tokens !== 4) stallBegunMs ??= performance.now() + 1000;
    const into = performance.now() - (stallBegunMs ?? Infinity);
    if (into >= 0 && into < 1000) await wait(1000 - into);
    await timed(ask);
  },
};

function answer(ask: Ask): void {
  const [, kind] = ask.path.split('/');
  const document = ask.path.endsWith('/models')
    ? '{"data":[{"id":"org/test-model","owned_by":"vllm"},{"id":"other"}]}'
    : ask.path.endsWith('/version') && '{"version":"1.2.3"}';
  if (document) {
    whole(ask.socket, '200 OK', document);
    return;
  }
  if (ask.path.endsWith('/metrics')) {
    // Whoever tests with this server has a queue of half of what runs.
    const running =
      truths.length - truths.filter(({ pieceMs, body }) => pieceMs.length === body.max_tokens).length;
    const text = `vllm:num_requests_running{engine="0"} ${running}\nvllm:num_requests_waiting{engine="0"} ${running / 2}\nvllm:kv_cache_usage_perc{engine="0"} 0.25\n`;
    if (kind === 'timed') whole(ask.socket, '200 OK', text);
    else whole(ask.socket, '404 Not Found', '{}');
    return;
  }
  const mix = /^mix:(.*)$/.exec(kind)?.[1].split(',');
  // The trial before the load has four tokens; of a mixture it gets a sound answer.
  const chosen = mix ? (ask.body.max_tokens === 4 ? 'timed' : mix[turn++ % mix.length]) : kind;
  void kinds[chosen]?.(ask);
}

const server = net.createServer({ noDelay: true }, socket => {
  accepted++;
  connections.add(socket);
  socket.on('close', () => connections.delete(socket));
  socket.on('error', () => {});
  let bytes = Buffer.alloc(0);
  socket.on('data', data => {
    const arrivedMs = performance.now();
    bytes = Buffer.concat([bytes, data]);
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) return;
      const headers = bytes.toString('latin1', 0, end);
      const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
      if (bytes.length < end + 4 + length) return;
      const text = bytes.toString('utf8', end + 4, end + 4 + length);
      bytes = bytes.subarray(end + 4 + length);
      const path = headers.split(' ')[1];
      answer({ socket, path, headers, body: text === '' ? {} : JSON.parse(text), arrivedMs });
    }
  });
});

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as net.AddressInfo).port }));
process.on('message', () => {
  process.send?.({ truths: truths.splice(0), open: connections.size, accepted, closedIdle });
  accepted = 0;
  closedIdle = 0;
  turn = 0;
  stallBegunMs = undefined;
});
process.on('disconnect', () => process.exit(0));
