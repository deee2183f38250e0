/** What the far side has: user, nsys, GPUs, room. And bringing nsys there where it is missing. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { formatBytes } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { NSYS_PLACES } from '../../catalog/nsys-places.js';
import { type ExecResult, lastLine, script, type Transport } from './transport.js';

export interface RemoteMachine {
  readonly root: boolean;
  readonly nsys?: string;
  readonly nsysVersion?: string;
  readonly gpus: number;
  /** As set there; undefined when it is not. */
  readonly visibleDevices?: string;
  readonly freeBytes: number;
}

/** One round trip. Of several places that hold an nsys the first in the list wins. */
const PROBE = `echo "uid=$(id -u)"
n=$(command -v nsys 2>/dev/null)
if [ -z "$n" ]; then for f in ${NSYS_PLACES.linux!.toReversed().join(' ')} "$1"/target-linux-*/nsys "$1"/bin/nsys; do if [ -x "$f" ]; then n=$f; fi; done; fi
if [ -n "$n" ]; then echo "nsys=$n"; echo "version=$("$n" --version 2>/dev/null | head -n 1)"; fi
echo "gpus=$(ls -d /dev/nvidia[0-9]* 2>/dev/null | wc -l)"
if [ -n "\${CUDA_VISIBLE_DEVICES+set}" ]; then echo "visible=$CUDA_VISIBLE_DEVICES"; fi
echo "free=$(df -Pk "\${TMPDIR:-/tmp}" | tail -n 1 | awk '{print $4}')"`;

export async function lookAt(transport: Transport, tree = ''): Promise<RemoteMachine> {
  const result = await transport.exec(script(PROBE, tree || '/nonexistent'));
  if (result.status !== 0 || !/^uid=\d+$/m.test(result.stdout)) throw unreachable(transport, result);
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(result.stdout)?.[1].trim();
  const version = /(\d{4}(?:\.\d+)+)/.exec(value('version') ?? '')?.[1];
  const nsys = value('nsys');
  const visibleDevices = value('visible');
  const free = Number(value('free'));
  return {
    root: value('uid') === '0',
    ...(nsys && version ? { nsys, nsysVersion: version } : {}),
    gpus: Number(value('gpus')) || 0,
    ...(visibleDevices === undefined ? {} : { visibleDevices }),
    freeBytes: Number.isFinite(free) ? free * 1024 : Infinity,
  };
}

/** What kubectl and ssh say, with what to do about it. */
export function unreachable(transport: Transport, result: ExecResult): UserError {
  const said = lastLine(result);
  const hint = /container .*(not found|not valid)|container not found/i.test(said)
    ? 'Name another container with -c; kubectl get pod NAME -o jsonpath={.spec.containers[*].name} lists them.'
    : /not ?found/i.test(said)
      ? 'Check the name and -n NAMESPACE: kubectl get pods -A'
      : /forbidden/i.test(said)
        ? 'Your account needs permission to create pods/exec in that namespace.'
        : /permission denied|publickey/i.test(said)
          ? 'ssh must connect without a prompt: set up a key or an agent.'
          : 'Check that it is running and reachable.';
  return new UserError('unreachable', `${transport.name} cannot be reached: ${said}`, hint);
}

/** Things that spoil a capture, with the fix; none of them stops one. */
export function doubtsAbout(machine: RemoteMachine, inPod: boolean): string[] {
  const doubts: string[] = [];
  if (machine.gpus === 0)
    doubts.push(
      inPod
        ? 'no GPU on that machine: give the container one (resources.limits: nvidia.com/gpu: 1)'
        : 'no GPU on that machine: check nvidia-smi and the driver',
    );
  if (machine.visibleDevices === '' || machine.visibleDevices === '-1' || machine.visibleDevices === 'none')
    doubts.push('CUDA_VISIBLE_DEVICES hides every GPU on that machine: set it to 0, or unset it');
  if (!machine.root)
    doubts.push(
      inPod
        ? 'not root on that machine: CPU samples and GPU metrics need securityContext.runAsUser: 0'
        : 'not root on that machine: CPU samples and GPU metrics need root',
    );
  return doubts;
}

export interface NsysSource {
  /** A package of NVIDIA's, on this machine. */
  readonly deb?: string;
  /** An installed tree on this machine, with bin/nsys or target-linux-x64/nsys in it. */
  readonly tree?: string;
}

/** The machine with an nsys on it: its own, or one brought along into `folder`. */
export async function withNsys(
  transport: Transport,
  machine: RemoteMachine,
  source: NsysSource,
  folder: string,
): Promise<RemoteMachine & { readonly nsys: string }> {
  if (machine.nsys) return machine as RemoteMachine & { nsys: string };
  if (source.tree) await sendTree(transport, source.tree, `${folder}/nsys`, NSYS_TREE);
  else if (source.deb) await installDeb(transport, machine, source.deb, folder);
  else
    throw new UserError(
      'needs-nsys',
      `nsys is not installed in ${transport.name}.`,
      'Copy it there: --nsys-deb nsight-systems-cli-….deb, or --nsys-tree FOLDER (an installed copy).',
    );
  const now = await lookAt(transport, `${folder}/nsys`);
  if (now.nsys) return now as RemoteMachine & { nsys: string };
  throw new UserError(
    'needs-nsys',
    `nsys was copied to ${transport.name} but does not run there.`,
    'Use an nsys build for that machine: same architecture, and no newer C library.',
  );
}

async function installDeb(transport: Transport, machine: RemoteMachine, deb: string, folder: string) {
  if (!machine.root)
    throw new UserError(
      'unreachable',
      `Installing a package in ${transport.name} needs root.`,
      'Run the container with securityContext.runAsUser: 0, or copy an installed tree: --nsys-tree FOLDER.',
    );
  if (!fs.existsSync(deb)) throw new UserError('not-found', `${deb} does not exist.`, 'Check --nsys-deb.');
  await put(transport, deb, `${folder}/nsys.deb`, machine.freeBytes);
  // Dependencies of the command line alone are not worth a refusal: containers lack the desktop's libraries.
  const result = await transport.exec(['dpkg', '--force-depends', '-i', `${folder}/nsys.deb`]);
  if (result.status !== 0)
    throw new UserError(
      'needs-nsys',
      `The package could not be installed: ${lastLine(result)}`,
      'Try --nsys-tree FOLDER.',
    );
}

/** A file there, or a clear word about why not. */
async function put(transport: Transport, from: string, to: string, freeBytes = Infinity): Promise<void> {
  const { size } = fs.statSync(from);
  if (size > freeBytes) throw full(transport, size, freeBytes);
  const result = await transport.exec(script('cat > "$1"', to), { inputFile: from, timeoutMs: 3_600_000 });
  if (result.status === 0) return;
  if (/no space|quota/i.test(result.stderr)) throw full(transport, size, freeBytes);
  throw new UserError(
    'unreachable',
    `${path.basename(from)} could not be sent to ${transport.name}: ${lastLine(result)}`,
    'Try again.',
  );
}

const full = (transport: Transport, needed: number, free: number) =>
  new UserError(
    'no-space',
    `The disk of ${transport.name} is full: ${formatBytes(needed)} needed${Number.isFinite(free) ? `, ${formatBytes(free)} free` : ''}.`,
    'Free some disk space there, or set TMPDIR in the container to a larger folder.',
  );

interface SentTree {
  /** For messages: what it is, and the option that names it. */
  readonly what: string;
  readonly option: string;
  readonly parts: readonly string[];
}
const NSYS_TREE: SentTree = { what: 'nsys', option: '--nsys-tree', parts: ['.'] };

/** Some parts of a folder here, or all of it, into a folder there. */
export async function sendTree(
  transport: Transport,
  tree: string,
  to: string,
  { what, option, parts }: SentTree,
): Promise<void> {
  if (!fs.statSync(tree, { throwIfNoEntry: false })?.isDirectory())
    throw new UserError('not-found', `${tree} is not a folder.`, `Check ${option}.`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-tree-'));
  try {
    const archive = path.join(folder, 'tree.tar');
    await tar(['-C', path.resolve(tree), '-cf', archive, ...parts]);
    await put(transport, archive, `${to}.tar`);
    const result = await transport.exec(
      script('mkdir -p "$1" && tar -C "$1" -xf "$1.tar" && rm -f "$1.tar"', to),
    );
    if (result.status !== 0)
      throw new UserError(
        'unreachable',
        `${what} could not be unpacked in ${transport.name}: ${lastLine(result)}`,
        what === NSYS_TREE.what
          ? 'Try --nsys-deb.'
          : `Copy it there yourself and name the folder: ${option} DIR`,
      );
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function tar(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('tar', args, { stdio: 'ignore' });
    child.once('error', reject);
    child.once('close', status =>
      status === 0 ? resolve() : reject(new Error(`tar exited with ${status}`)),
    );
  });
}
