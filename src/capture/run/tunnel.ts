/**
 * A port of the far side as a port of this machine: by the transport's own forwarding, or else each connection is one
 * command there that relays its input and output, which needs no right beyond running commands (pods/exec, an ssh login).
 */
import * as net from 'node:net';
import { UserError } from '../../base/user-error.js';
import { lastLine, script, type Transport } from './transport.js';

export interface Tunnel {
  readonly url: string;
  close(): void;
}

/** Every engine brings a Python; the others are for programs that do not. */
const RELAY = `if command -v python3 >/dev/null 2>&1; then exec python3 -c "$2" "$1"
elif command -v nc >/dev/null 2>&1; then exec nc 127.0.0.1 "$1"
elif command -v socat >/dev/null 2>&1; then exec socat - "TCP:127.0.0.1:$1"
else echo "neither python3 nor nc nor socat is installed there" >&2; exit 127; fi`;
/** Half-open connections matter: a client may end its side before the answer is complete. */
const PYTHON_RELAY = `
import os, socket, sys, threading
s = socket.create_connection(("localhost", int(sys.argv[1])))
def send():
    while True:
        data = os.read(0, 65536)
        if not data: break
        s.sendall(data)
    try: s.shutdown(socket.SHUT_WR)
    except OSError: pass
threading.Thread(target=send, daemon=True).start()
while True:
    data = s.recv(65536)
    if not data: break
    sys.stdout.buffer.write(data); sys.stdout.buffer.flush()
`;
const relay = (port: number) => script(RELAY, String(port), PYTHON_RELAY);

/** `isUp`: something must answer there now; a server that is being started will later. */
export async function openTunnel(transport: Transport, port: number, { isUp = true } = {}): Promise<Tunnel> {
  if (isUp) await refuseClosed(transport, port);
  const forwarded = isUp ? await transport.forward?.(port) : undefined;
  if (forwarded) return forwarded;
  const running = new Set<{ kill(): void }>();
  const server = net.createServer({ allowHalfOpen: true }, socket => {
    const child = transport.start(relay(port));
    const end = () => {
      child.kill();
      socket.destroy();
    };
    const one = { kill: end };
    running.add(one);
    for (const stream of [socket, child.stdin, child.stdout]) stream.on('error', end);
    child.on('error', end);
    child.stderr.resume();
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
    child.once('close', () => running.delete(one));
    // Nobody reads the answer any more.
    socket.once('close', () => child.kill());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    close() {
      server.close();
      for (const one of running) one.kill();
    },
  };
}

/** One connection without a word: why it fails is said once, not by every request. */
async function refuseClosed(transport: Transport, port: number): Promise<void> {
  const result = await transport.exec([
    'sh',
    '-c',
    `${RELAY.replace('exec nc', 'exec nc -z')}`,
    'sh',
    String(port),
    PROBE,
  ]);
  if (result.status === 0) return;
  throw new UserError(
    'unreachable',
    `Nothing answers at port ${port} in ${transport.name}: ${lastLine(result)}`,
    'Name the address inside: --server http://localhost:PORT',
  );
}
const PROBE = 'import socket, sys; socket.create_connection(("localhost", int(sys.argv[1])), 10).close()';
