/**
 * A port of an ssh host by ssh's own forwarding: one login for all connections. A login per connection is throttled by
 * sshd (MaxStartups, 10 by default), and a load has more at a time. Where forwarding is not allowed there is none.
 */
import { spawn } from 'node:child_process';
import * as net from 'node:net';
import { sleep } from './marked-processes.js';

interface ForwardedPort {
  readonly url: string;
  close(): void;
}

const LOGIN_MS = 20_000;
const ANSWER_MS = 10_000;
const LOOK_MS = 100;

/** `login`: the words of ssh up to the host. Undefined where nothing comes back through it. */
export async function forwardPort(
  login: readonly string[],
  host: string,
  port: number,
): Promise<ForwardedPort | undefined> {
  const local = await freePort();
  const [program, ...options] = login;
  const how = ['-N', '-o', 'ExitOnForwardFailure=yes', '-L', `127.0.0.1:${local}:localhost:${port}`];
  const child = spawn(program, [...options, ...how, '--', host], { stdio: 'ignore' });
  let hasEnded = false;
  const ended = () => {
    hasEnded = true;
  };
  child.once('error', ended);
  child.once('close', ended);
  const until = Date.now() + LOGIN_MS;
  while (!hasEnded && Date.now() < until) {
    const answer = await answerAt(local);
    if (answer === 'some') return { url: `http://127.0.0.1:${local}`, close: () => void child.kill() };
    if (answer === 'none') break;
    await sleep(LOOK_MS);
  }
  child.kill();
  return undefined;
}

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as net.AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

/** ssh listens here even if the far side then refuses: only an answer shows that it forwards. */
function answerAt(port: number): Promise<'some' | 'none' | 'not listening'> {
  return new Promise(resolve => {
    let isOpen = false;
    const socket = net.connect(port, '127.0.0.1');
    const end = (answer: 'some' | 'none' | 'not listening') => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(ANSWER_MS, () => end('none'));
    socket.once('connect', () => {
      isOpen = true;
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    });
    socket.once('data', () => end('some'));
    socket.once('error', () => end(isOpen ? 'none' : 'not listening'));
    socket.once('close', () => end('none'));
  });
}
