/**
 * Firefox through Marionette, the protocol it has built in: JSON over a socket, each message with its length before it.
 * (Playwright drives a Firefox of its own making; this is the one that distributions have.)
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import * as net from 'node:net';
import { tmpdir } from 'node:os';
import * as path from 'node:path';

const READY_MS = 30_000;

export class Firefox {
  private next = 1;
  private received = Buffer.alloc(0);
  private written = '';
  private readonly waiting = new Map<number, (answer: [error: unknown, value: unknown]) => void>();

  private constructor(
    private readonly process: ChildProcess,
    private readonly socket: net.Socket,
    private readonly folder: string,
  ) {
    socket.on('data', piece => this.take(piece as Buffer));
    for (const output of [process.stdout, process.stderr])
      output?.on('data', piece => {
        this.written += String(piece);
      });
  }

  static async start(program: string): Promise<Firefox> {
    const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-firefox-'));
    const port = await freePort();
    // What pages write to the console goes to the output.
    const settings = { 'marionette.port': port, 'devtools.console.stdout.content': true };
    writeFileSync(
      path.join(folder, 'user.js'),
      Object.entries(settings)
        .map(([name, value]) => `user_pref("${name}", ${value});\n`)
        .join(''),
    );
    const child = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', folder], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: folder },
    });
    const socket = await connected(port);
    const firefox = new Firefox(child, socket, folder);
    await firefox.ask('WebDriver:NewSession', {});
    return firefox;
  }

  async open(url: string): Promise<void> {
    await this.ask('WebDriver:Navigate', { url });
  }

  /** What an expression is in the page; promises are waited for. */
  async evaluate(expression: string): Promise<unknown> {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve(${expression}).then(done, error => done('failed: ' + error.message));`;
    const answer = (await this.ask('WebDriver:ExecuteAsyncScript', { script, args: [] })) as {
      value: unknown;
    };
    return answer.value;
  }

  async until(expression: string): Promise<void> {
    for (const end = Date.now() + READY_MS; ; await new Promise(resolve => setTimeout(resolve, 100))) {
      if ((await this.evaluate(expression)) === true) return;
      if (Date.now() > end) throw new Error(`never came true in Firefox: ${expression}`);
    }
  }

  async press(key: string): Promise<void> {
    const actions = ['keyDown', 'keyUp'].map(type => ({ type, value: key }));
    await this.ask('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions }] });
  }

  /** Errors and warnings of pages, from the console and from scripts. */
  complaints(): string[] {
    const lines = this.written.split('\n');
    // Texts of pages are quoted; those without quotes are the browser's own.
    return lines.filter(line => /^console\.(error|warn): "|^JavaScript (error|warning): http/.test(line));
  }

  async type(text: string): Promise<void> {
    for (const letter of text) await this.press(letter);
  }

  /** From one point of the page to another with the button down; `key` is held meanwhile. */
  async drag(from: readonly [number, number], to: readonly [number, number], key = ''): Promise<void> {
    const move = ([x, y]: readonly [number, number]) => ({
      ...{ type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 50 },
    });
    const pause = { type: 'pause' };
    const pointer = [
      pause,
      move(from),
      { type: 'pointerDown', button: 0 },
      move(to),
      { type: 'pointerUp', button: 0 },
    ];
    const held =
      key === ''
        ? []
        : [{ type: 'keyDown', value: key }, pause, pause, pause, pause, { type: 'keyUp', value: key }];
    await this.ask('WebDriver:PerformActions', {
      actions: [
        { type: 'pointer', id: 'mouse', actions: pointer },
        ...(held.length > 0 ? [{ type: 'key', id: 'held', actions: held }] : []),
      ],
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.socket.destroy();
    this.process.kill('SIGKILL');
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async ask(command: string, parameters: object): Promise<unknown> {
    const id = this.next++;
    const message = JSON.stringify([0, id, command, parameters]);
    const [error, value] = await new Promise<[unknown, unknown]>(resolve => {
      this.waiting.set(id, resolve);
      this.socket.write(`${Buffer.byteLength(message)}:${message}`);
    });
    if (error) throw new Error(`${command}: ${JSON.stringify(error).slice(0, 500)}`);
    return value;
  }

  private take(piece: Buffer): void {
    this.received = Buffer.concat([this.received, piece]);
    for (;;) {
      const colon = this.received.indexOf(':');
      const length = Number(this.received.subarray(0, Math.max(0, colon)).toString());
      if (colon < 0 || this.received.length < colon + 1 + length) return;
      const message = JSON.parse(this.received.subarray(colon + 1, colon + 1 + length).toString());
      this.received = this.received.subarray(colon + 1 + length);
      // The first message only says who is there.
      if (Array.isArray(message)) this.waiting.get(message[1])?.([message[2], message[3]]);
    }
  }
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function connected(port: number): Promise<net.Socket> {
  for (const end = Date.now() + READY_MS; ; await new Promise(resolve => setTimeout(resolve, 100))) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return socket;
    if (Date.now() > end) throw new Error('Firefox does not listen.');
  }
}
