/**
 * A cluster for the real kubectl: an API server with pods whose containers are folders of this machine. It answers what
 * `kubectl get pods` and `kubectl exec` ask, and runs commands as a container would, with its own PATH, home, temporary
 * folder and processes. Exec is spoken as WebSocket with channels (v5.channel.k8s.io, Kubernetes 1.31 and newer).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import * as path from 'node:path';

export interface StandInPod {
  readonly labels: Readonly<Record<string, string>>;
  readonly phase?: string;
  /** Of its container, as the template says. */
  readonly command?: readonly string[];
  /** The replica set it belongs to, of the deployment of the same name. */
  readonly owner?: string;
  /** The container's folder: bin, home, tmp, proc. */
  readonly folder: string;
}

const TOOLS =
  'sh mktemp cat tail head wc sha256sum tr grep ls mkdir rm cp ln touch kill sleep env python3 id';

/** Only these programs are in the container. */
export function makeContainer(folder: string): string {
  for (const name of ['bin', 'home', 'tmp', 'proc'])
    fs.mkdirSync(path.join(folder, name), { recursive: true });
  for (const tool of TOOLS.split(' ')) {
    const place = ['/usr/bin', '/bin'].map(bin => path.join(bin, tool)).find(file => fs.existsSync(file));
    if (place) fs.symlinkSync(place, path.join(folder, 'bin', tool));
  }
  return folder;
}

/** The container's /tmp, or a file in it, for a word that names one. */
export const insideTmp = (folder: string, word: string): string =>
  word === '/tmp' || /^\/tmp\/[^/]+$/.test(word) ? `${folder}${word}` : word;

/** A process as /proc shows it. */
export function addProcess(
  container: string,
  pid: number,
  words: readonly string[],
  env: Record<string, string>,
): void {
  const folder = path.join(container, 'proc', String(pid));
  fs.mkdirSync(folder);
  const zeroEnded = (texts: readonly string[]) => texts.map(text => `${text}\0`).join('');
  fs.writeFileSync(path.join(folder, 'cmdline'), zeroEnded(words));
  fs.writeFileSync(
    path.join(folder, 'environ'),
    zeroEnded(Object.entries(env).map(([name, value]) => `${name}=${value}`)),
  );
}

/** A container in the template of a deployment. */
export interface StandInContainer {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

interface StandInDeployment {
  readonly labels: Readonly<Record<string, string>>;
  container: StandInContainer;
  readonly mayPatch: boolean;
  /** The template has changed: pods are to be replaced. */
  readonly onChanged: (container: StandInContainer) => void;
}

export class StandInCluster {
  readonly deployments: Record<string, StandInDeployment> = {};
  /** What was asked, as method and path. */
  readonly asked: string[] = [];
  readonly executed: string[][] = [];
  /** Everything that commands in containers printed. */
  answered = '';
  private readonly server: http.Server;

  private constructor(
    private readonly namespace: string,
    private readonly pods: Record<string, StandInPod>,
  ) {
    this.server = http.createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://cluster');
      this.asked.push(`${request.method} ${pathname}`);
      let text = '';
      request.on('data', chunk => void (text += String(chunk)));
      request.on('end', () => {
        const { status, body } =
          request.method === 'GET' ? this.answer(pathname, searchParams) : this.change(pathname, text);
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    this.server.on('upgrade', (request, socket) => this.exec(request, socket as Socket));
  }

  static async start(namespace: string, pods: Record<string, StandInPod>): Promise<StandInCluster> {
    const cluster = new StandInCluster(namespace, pods);
    await new Promise<void>(resolve => cluster.server.listen(0, '127.0.0.1', resolve));
    return cluster;
  }

  /** A configuration file for kubectl. */
  config(folder: string): string {
    const { port } = this.server.address() as AddressInfo;
    const file = path.join(folder, 'kubeconfig');
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
      clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}` } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: this.namespace } }],
      users: [{ name: 'u', user: {} }],
    };
    fs.writeFileSync(file, JSON.stringify(config));
    return file;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private podObject(name: string) {
    const { labels, phase = 'Running', command, owner } = this.pods[name];
    const ownerReferences =
      owner === undefined ? [] : [{ kind: 'ReplicaSet', name: owner, controller: true }];
    const metadata = { name, namespace: this.namespace, labels, ownerReferences };
    const spec = { containers: [{ name: 'main', ...(command ? { command } : {}) }] };
    return { kind: 'Pod', apiVersion: 'v1', metadata, spec, status: { phase } };
  }

  private deploymentObject(name: string) {
    const { labels, container } = this.deployments[name];
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const spec = { replicas: 1, selector: { matchLabels: labels }, template };
    return { kind: 'Deployment', apiVersion: 'apps/v1', metadata: { name, namespace: this.namespace }, spec };
  }

  private answer(pathname: string, query: URLSearchParams): { status: number; body: object } {
    const ok = (body: object) => ({ status: 200, body });
    const resource = (name: string, kind: string, ...verbs: string[]) => ({
      ...{ name, singularName: kind.toLowerCase(), namespaced: true, kind, verbs },
    });
    const group = (name: string) => {
      const version = { groupVersion: `${name}/v1`, version: 'v1' };
      return { name, versions: [version], preferredVersion: version };
    };
    if (pathname === '/api') return ok({ kind: 'APIVersions', versions: ['v1'] });
    if (pathname === '/apis')
      return ok({
        kind: 'APIGroupList',
        apiVersion: 'v1',
        groups: [group('apps'), group('authorization.k8s.io')],
      });
    const resources: Record<string, object[]> = {
      '/api/v1': [resource('pods', 'Pod', 'get', 'list')],
      '/apis/apps/v1': [
        resource('deployments', 'Deployment', 'get', 'list', 'patch'),
        resource('replicasets', 'ReplicaSet', 'get', 'list'),
      ],
      '/apis/authorization.k8s.io/v1': [
        { ...resource('selfsubjectaccessreviews', 'SelfSubjectAccessReview', 'create'), namespaced: false },
      ],
    };
    if (pathname in resources)
      return ok({
        kind: 'APIResourceList',
        groupVersion: pathname.replace(/^\/apis?\//, ''),
        resources: resources[pathname],
      });
    const place = `/api/v1/namespaces/${this.namespace}/pods`;
    if (pathname === place) {
      const wanted = (query.get('labelSelector') ?? '').split(',').map(pair => pair.split('='));
      const names = Object.keys(this.pods).filter(name =>
        wanted.every(([key, value]) => this.pods[name].labels[key] === value),
      );
      return ok({
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: {},
        items: names.map(name => this.podObject(name)),
      });
    }
    const [kind, name] = pathname.split('/').slice(-2);
    if (kind === 'pods' && name in this.pods) return ok(this.podObject(name));
    if (kind === 'deployments' && name in this.deployments) return ok(this.deploymentObject(name));
    if (kind === 'replicasets' && name in this.deployments) {
      const ownerReferences = [{ kind: 'Deployment', name, controller: true }];
      return ok({ kind: 'ReplicaSet', apiVersion: 'apps/v1', metadata: { name, ownerReferences } });
    }
    const message = `${kind} "${name}" not found`;
    return {
      status: 404,
      body: { kind: 'Status', status: 'Failure', reason: 'NotFound', message, code: 404 },
    };
  }

  /** A JSON Patch of a deployment, or the question whether one is allowed. */
  private change(pathname: string, text: string): { status: number; body: object } {
    const [kind, name] = pathname.split('/').slice(-2);
    if (name === 'selfsubjectaccessreviews') {
      // kubectl asks in protobuf; the name of the deployment stands in it as it is.
      const allowed = Object.entries(this.deployments).some(
        ([own, { mayPatch }]) => mayPatch && text.includes(own),
      );
      const review = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: {} };
      return { status: 201, body: { ...review, status: { allowed } } };
    }
    const body = JSON.parse(text) as { op: string; path: string; value?: unknown }[];
    if (kind !== 'deployments') return { status: 405, body: {} };
    const deployment = this.deployments[name];
    const container: Record<string, unknown> = { ...deployment.container };
    for (const { op, path: place, value } of body) {
      const field = /^\/spec\/template\/spec\/containers\/0\/(command|args|env)$/.exec(place)?.[1];
      if (field === undefined)
        return { status: 422, body: { kind: 'Status', status: 'Failure', message: place } };
      if (op === 'remove') delete container[field];
      else container[field] = value;
    }
    deployment.container = container as unknown as StandInContainer;
    deployment.onChanged(deployment.container);
    return { status: 200, body: this.deploymentObject(name) };
  }

  private exec(request: http.IncomingMessage, socket: Socket): void {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://cluster');
    const name = pathname.split('/').at(-2) ?? '';
    const key = request.headers['sec-websocket-key'];
    if (request.headers['sec-websocket-protocol'] !== 'v5.channel.k8s.io' || !key) {
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      return;
    }
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n\r\n`,
    );
    const { folder } = this.pods[name];
    const [program, ...args] = searchParams.getAll('command');
    this.executed.push([program, ...args]);
    // The container has its own processes, packages and /tmp, whatever this machine has.
    const inside = args.map(word =>
      insideTmp(folder, word)
        .replaceAll('/proc/[0-9]', `${folder}/proc/[0-9]`)
        .replaceAll('#/proc/', `#${folder}/proc/`)
        .replace(/\/(opt\/nvidia|usr\/l[a-z]*\/[cn])/g, `${folder}/$1`),
    );
    const env = { PATH: `${folder}/bin`, HOME: `${folder}/home`, TMPDIR: `${folder}/tmp` };
    const child = spawn(program, inside, { env, cwd: `${folder}/home`, stdio: 'pipe' });
    const send = (channel: number, data: Uint8Array) => {
      if (!socket.destroyed) socket.write(frame(channel, data));
    };
    child.stdout.on('data', (data: Buffer) => {
      this.answered += data.toString('latin1');
      send(1, data);
    });
    child.stderr.on('data', (data: Buffer) => send(2, data));
    child.on('error', error => finish({ status: 'Failure', message: error.message }));
    child.on('close', code => finish(statusOf(code ?? 137)));
    const finish = (status: object) => {
      send(3, Buffer.from(JSON.stringify(status)));
      socket.end(Buffer.from([0x88, 0x02, 0x03, 0xe8]));
    };
    if (searchParams.get('stdin') !== 'true') child.stdin.end();
    child.stdin.on('error', () => {});
    socket.on('error', () => child.kill());
    socket.on('close', () => child.kill());
    socket.on(
      'data',
      framesOf((channel, data) => {
        if (channel === 0) child.stdin.write(data);
        // v5: a channel is closed by naming it.
        if (channel === 255 && data[0] === 0) child.stdin.end();
      }),
    );
  }
}

const statusOf = (code: number): object =>
  code === 0
    ? { status: 'Success', metadata: {} }
    : {
        ...{ status: 'Failure', metadata: {}, reason: 'NonZeroExitCode' },
        message: `command terminated with non-zero exit code: ${code}`,
        details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
      };

/** One binary message of a server: not masked, never in parts. */
function frame(channel: number, data: Uint8Array): Buffer {
  const size = data.length + 1;
  const head = size < 126 ? Buffer.from([0x82, size]) : Buffer.alloc(size < 65536 ? 4 : 10);
  if (size >= 126) {
    head[0] = 0x82;
    head[1] = size < 65536 ? 126 : 127;
    if (size < 65536) head.writeUInt16BE(size, 2);
    else head.writeBigUInt64BE(BigInt(size), 2);
  }
  return Buffer.concat([head, Buffer.from([channel]), data]);
}

/** Messages of a client: masked, possibly in parts and several at once. Pings and closing frames are passed over. */
function framesOf(onMessage: (channel: number, data: Buffer) => void): (chunk: Buffer) => void {
  let buffered = Buffer.alloc(0);
  let message = Buffer.alloc(0);
  return chunk => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      if (buffered.length < 2) return;
      const short = buffered[1] & 0x7f;
      const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
      const start = 2 + lengthBytes + 4;
      if (buffered.length < start) return;
      const size =
        short === 126
          ? buffered.readUInt16BE(2)
          : short === 127
            ? Number(buffered.readBigUInt64BE(2))
            : short;
      if (buffered.length < start + size) return;
      const mask = buffered.subarray(start - 4, start);
      const data = Buffer.from(buffered.subarray(start, start + size)).map((byte, i) => byte ^ mask[i % 4]);
      const [first] = buffered;
      buffered = buffered.subarray(start + size);
      if ((first & 0x0f) > 2) continue;
      message = Buffer.concat([message, data]);
      if ((first & 0x80) === 0) continue;
      if (message.length > 0) onMessage(message[0], message.subarray(1));
      message = Buffer.alloc(0);
    }
  };
}
