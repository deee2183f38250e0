/** A port behind a real sshd, of this user on this machine: forwarded by ssh, or relayed where that is not allowed. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { sshTransport } from '../src/capture/run/transport.js';
import { openTunnel } from '../src/capture/run/tunnel.js';
import { lacks, locate } from '../src/testing/needs.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-ssh-'));
const file = (name: string) => path.join(folder, name);
const { PATH } = process.env;
after(() => {
  process.env.PATH = PATH;
  fs.rmSync(folder, { recursive: true, force: true });
});

const listening = (server: net.Server) =>
  new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port)),
  );

function makeKeys(): void {
  for (const name of ['key', 'host'])
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)]);
  // Debian's sshd wants this folder, which only its service makes.
  if (process.getuid?.() === 0) fs.mkdirSync('/run/sshd', { recursive: true });
  const program = `#!/bin/sh\nexec $(PATH='${PATH}' command -v ssh) -F '${file('config')}' "$@"\n`;
  fs.mkdirSync(file('bin'));
  fs.writeFileSync(file('bin/ssh'), program, { mode: 0o755 });
  process.env.PATH = `${file('bin')}:${PATH}`;
}

async function withSshd(
  forwarding: 'yes' | 'no',
  use: (logins: () => number) => Promise<void>,
): Promise<void> {
  const probe = net.createServer();
  const port = await listening(probe);
  await new Promise(resolve => probe.close(resolve));
  const settings = { Port: port, ListenAddress: '127.0.0.1', HostKey: file('host'), PidFile: 'none' };
  const more = { AuthorizedKeysFile: file('key.pub'), StrictModes: 'no', AllowTcpForwarding: forwarding };
  const lines = (values: object) => Object.entries(values).map(([name, value]) => `${name} ${value}\n`);
  fs.writeFileSync(file('sshd'), lines({ ...settings, ...more }).join(''));
  const own = {
    HostName: '127.0.0.1',
    Port: port,
    IdentityFile: file('key'),
    UserKnownHostsFile: file('known'),
  };
  fs.writeFileSync(file('config'), lines({ Host: 'box', ...own, StrictHostKeyChecking: 'no' }).join(''));
  const daemon = spawn(locate('sshd')!, ['-D', '-e', '-f', file('sshd')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const isUp = new Promise<void>((resolve, reject) => {
    daemon.stderr.on('data', text => {
      log += String(text);
      if (/Server listening/.test(log)) resolve();
    });
    daemon.once('close', () => reject(new Error(log)));
  });
  try {
    await isUp;
    await use(() => log.match(/Accepted publickey/g)?.length ?? 0);
  } finally {
    daemon.kill();
  }
}

test('a port over ssh: one login for many connections, and a relay without forwarding', {
  skip: lacks('sshd'),
}, async () => {
  makeKeys();
  const server = http.createServer((request, response) => setTimeout(() => response.end(request.url), 50));
  const port = await listening(server);
  try {
    for (const [forwarding, count] of [
      ['yes', 24],
      ['no', 1],
    ] as const)
      await withSshd(forwarding, async logins => {
        const tunnel = await openTunnel(sshTransport('box'), port);
        try {
          const before = logins();
          const places = Array.from({ length: count }, (_, i) => `/${i}`);
          const answers = places.map(async place => (await fetch(tunnel.url + place)).text());
          assert.deepEqual(await Promise.all(answers), places);
          assert.equal(logins() - before, forwarding === 'yes' ? 0 : count);
        } finally {
          tunnel.close();
        }
      });
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
