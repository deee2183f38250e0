/**
 * Captures in a pod and over ssh. `kubectl` and `ssh` are stand-ins in a folder of their own that really execute what
 * they are given, with a home, a temporary folder and a choice of programs of the far side; and that fail on request.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { copyBack } from '../src/capture/run/copy-back.js';
import { agentThere } from '../src/capture/run/find-agent.js';
import { doubtsAbout, lookAt } from '../src/capture/run/remote-machine.js';
import { runFailure, type StopRequests } from '../src/capture/run/run-plan.js';
import { fetchRemote, type RemoteOptions, runRemote } from '../src/capture/run/run-remote.js';
import { kubectlTransport, localTransport, sshTransport } from '../src/capture/run/transport.js';
import { writeRecipe } from '../src/capture/run/write-recipe.js';
import { projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const withShell = { skip: lacks('shell') };

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-far-'));
const ownPath = process.env.PATH ?? '';
let work = '';
/** The far side: bin, home, tmp. */
let far = '';
const inFar = (...parts: string[]) => path.join(far, ...parts);

const TOOLS =
  'sh env mktemp cat tail head wc sha256sum tr grep id ls df awk setsid mkdir rm tar sleep cp touch dirname basename sort';

beforeEach(() => {
  work = fs.mkdtempSync(path.join(scratch, 't-'));
  far = path.join(work, 'far');
  for (const folder of ['bin', 'home', 'tmp']) fs.mkdirSync(inFar(folder), { recursive: true });
  // Links, so that what is not named here is not there: this machine's own nsys, for one.
  for (const tool of TOOLS.split(' ')) {
    const place = ownPath
      .split(':')
      .map(folder => path.join(folder, tool))
      .find(file => fs.existsSync(file));
    if (place) fs.symlinkSync(place, inFar('bin', tool));
  }
  const here = path.join(work, 'here');
  fs.mkdirSync(here);
  script(path.join(here, 'kubectl'), KUBECTL);
  script(path.join(here, 'ssh'), SSH);
  process.env.PATH = `${here}:${ownPath}`;
});
after(() => {
  process.env.PATH = ownPath;
  fs.rmSync(scratch, { recursive: true, force: true });
});

function script(file: string, text: string): void {
  fs.writeFileSync(file, text.replaceAll('@FAR@', far), { mode: 0o755 });
}

/** `break` holds how many pieces arrive before the pod is gone, in the middle of one. */
const KUBECTL = `#!/bin/sh
C=main
[ "$1" = exec ] || exit 9
shift
while [ $# -gt 0 ]; do case "$1" in
  -i) ;; --namespace=*) N=\${1#*=} ;; --container=*) C=\${1#*=} ;; --) shift; break ;; *) POD=$1 ;;
esac; shift; done
if [ "$N" = closed ]; then echo 'Error from server (Forbidden): pods "llama-0" is forbidden: User "me" cannot create resource "pods/exec"' >&2; exit 1; fi
if [ "$POD" != llama-0 ]; then echo "Error from server (NotFound): pods \\"$POD\\" not found" >&2; exit 1; fi
if [ "$C" != main ]; then echo "error: container $C is not valid for pod $POD" >&2; exit 1; fi
case "$3" in *'head -c "$3"'*) if [ -f @FAR@/break ]; then
  n=$(cat @FAR@/break); if [ "$n" -le 0 ]; then env -i PATH=@FAR@/bin "$@" | head -c 1000; echo 'error: unable to upgrade connection: pod does not exist' >&2; exit 1; fi
  echo $((n-1)) > @FAR@/break; fi
  echo piece >> @FAR@/pieces ;; esac
# The far side has its own folders of packages, whatever this machine has in them.
A=$1 B=$2 S=$(printf '%s' "$3" | sed 's#/\\(opt/nvidia\\|usr/l[a-z]*/[cn]\\)#@FAR@/\\1#g'); shift 3
exec env -i HOME=@FAR@/home TMPDIR=@FAR@/tmp PATH=@FAR@/bin FAR=@FAR@ "$A" "$B" "$S" "$@"
`;
/** As sshd does: the words become one line for a shell there. */
const SSH = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
if [ "$1" != me@machine ]; then echo "$1: Permission denied (publickey)." >&2; exit 255; fi
shift
exec env -i HOME=@FAR@/home TMPDIR=@FAR@/tmp PATH=@FAR@/bin FAR=@FAR@ sh -c "$*"
`;
/** Collects until its program ends or it is interrupted, then writes a report: the program's words. */
const NSYS = `#!/bin/sh
if [ "$1" = --version ]; then echo 'NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0'; exit 0; fi
shift
while [ $# -gt 0 ]; do case "$1" in -o) OUT=$2; shift 2 ;; -*) shift ;; *) break ;; esac; done
stop() { kill "$P" 2>/dev/null; echo stopped; }
trap stop INT
"$@" & P=$!
wait $P; S=$?
printf 'NVIDIA Tegra Profiler Report 2025@3@1@90\\n' > "$OUT.nsys-rep" && cat "$FAR/home/words" >> "$OUT.nsys-rep" 2>/dev/null
[ ! -f "$FAR/full" ] || { rm -f "$OUT.nsys-rep"; cp /etc/hostname /dev/full; exit 1; }
exit $S
`;
/** Writes down every word it got, each with its end, then prints iterations. */
const ENGINE = `#!/bin/sh
for word in "$@"; do printf '%s\\0' "$word"; done > "$FAR/home/words"
i=0; while [ $i -lt "$1" ]; do echo "iter = $i, global_rank = 0, rank = 0, states = {}"; i=$((i+1)); sleep 0.02; done
`;

const never: StopRequests = { listen: () => () => {} };
const HOSTILE = [
  'a b',
  `it's`,
  '"$HOME"',
  '; touch PWNED',
  '$(touch PWNED)',
  '`touch PWNED`',
  '-n',
  '',
  '*',
  'two\nlines',
  '\\',
];

function withNsys(): void {
  script(inFar('bin', 'nsys'), NSYS);
  script(inFar('bin', 'engine'), ENGINE);
}
const options = (words: readonly string[] = ['3'], more: Partial<RemoteOptions> = {}): RemoteOptions => ({
  inPod: true,
  stop: never,
  pollMs: 50,
  copy: { pieceBytes: 4096, tries: 2, waitMs: 1 },
  output: path.join(work, 'out', `it's; a "report".nsys-rep`),
  plan: (machine, folder) => ({
    command: [machine.nsys, 'profile', '-o', `${folder}/a 'b"; touch PWNED`, 'engine', ...words],
    nsysAt: 0,
    env: { TLLM_PROFILE_START_STOP: '1-2; touch PWNED' },
    outputs: [],
  }),
  ...more,
});
const pod = () => kubectlTransport({ pod: 'llama-0', namespace: 'serving', container: 'main' });
async function refused(doing: () => unknown): Promise<UserError> {
  try {
    await doing();
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return error;
  }
  return assert.fail('it should have failed');
}
function cleanThere(): void {
  assert.deepEqual(fs.readdirSync(inFar('tmp')), [], 'something was left on the far side');
  const named = fs
    .readdirSync(work, { recursive: true, encoding: 'utf8' })
    .filter(name => /PWNED$/.test(name));
  assert.deepEqual(named, [], 'a name became a command');
  assert.ok(!fs.existsSync('PWNED'));
}

for (const [name, transport] of [
  ['a pod', pod],
  ['ssh', () => sshTransport('me@machine')],
] as const)
  test(`${name}: run, watched, copied back, cleaned up; no word is read by a shell`, withShell, async () => {
    withNsys();
    const seen: number[] = [];
    const words = ['3', ...HOSTILE];
    const result = await runRemote(transport(), options(words, { onIteration: i => seen.push(i) }));
    assert.deepEqual([result.status, seen, runFailure(result)], [0, [0, 1, 2], undefined]);
    assert.deepEqual(
      result.files.map(({ path: file }) => path.basename(file)),
      [`it's; a "report".nsys-rep`],
    );
    const report = fs.readFileSync(result.files[0].path, 'utf8');
    assert.deepEqual(
      report
        .slice(report.indexOf('\n') + 1)
        .split('\0')
        .slice(0, -1),
      words,
    );
    assert.equal(result.machine.nsysVersion, '2025.3.1.90');
    cleanThere();
  });

test('what the agent wrote there comes along, under the name of the report', withShell, async () => {
  withNsys();
  const lines = ['', 'printf {} > "$STEPSCOPE_SIDECAR"', 'printf %s "$PYTHONPATH" > "$FAR/home/path"', ''];
  script(inFar('bin', 'engine'), ENGINE.replace('\n', lines.join('\n')));
  const kubectl = path.join(work, 'here', 'kubectl');
  script(kubectl, KUBECTL.replace('FAR=@FAR@ "$A"', 'FAR=@FAR@ PYTHONPATH=/theirs "$A"'));
  const result = await runRemote(
    pod(),
    options(['3'], {
      output: path.join(work, 'out', 'far.nsys-rep'),
      plan: (machine, folder) => ({
        command: [machine.nsys, 'profile', '-o', `${folder}/trace`, 'engine', '3'],
        nsysAt: 0,
        env: { STEPSCOPE_SIDECAR: `${folder}/trace.agent.json`, PYTHONPATH: '/ours' },
        outputs: [],
      }),
    }),
  );
  assert.deepEqual(
    result.files.map(({ path: file, kind }) => [path.basename(file), kind]),
    [
      ['far.agent.json', 'agent-sidecar'],
      ['far.nsys-rep', 'nsys-report'],
    ],
  );
  assert.equal(fs.readFileSync(inFar('home', 'path'), 'utf8'), '/ours:/theirs');
  const plan = { command: ['nsys'], nsysAt: 0, env: {}, outputs: [] };
  const recipe = await writeRecipe(plan, result, { versions: { stepscope: '0' }, where: 'there' });
  assert.equal(path.basename(recipe!), 'far.recipe.json');
  cleanThere();
});

test(
  'the agent: sent along where it is missing there, left out where the same one is installed',
  withShell,
  async () => {
    withNsys();
    const there = inFar('bin', 'python3');
    const ask = (version: string) => script(there, `#!/bin/sh\nif [ "$1" = -c ]; then echo ${version}; fi\n`);
    const ours = { folder: path.join(projectRoot, 'agent'), version: '1.2.3' };
    const sent = inFar('tmp', 'agent');
    script(inFar('bin', 'engine'), '#!/usr/bin/env python3\n');
    for (const command of ['python3 serve.py', 'mpirun -n 2 env A=b python3 serve.py', 'engine']) {
      const words = command.split(' ');
      ask('1.2.3');
      assert.deepEqual(await agentThere(pod(), words, ours, sent), { ours: '1.2.3', installed: '1.2.3' });
      assert.ok(!fs.existsSync(sent));
      ask('1.2.2');
      assert.deepEqual(await agentThere(pod(), words, ours, sent), { ours: '1.2.3', installed: '1.2.2' });
      const parts = ['_stepscope_start.py', 'sitecustomize.py', 'stepscope_agent'];
      assert.deepEqual(fs.readdirSync(sent).sort(), parts);
      fs.rmSync(sent, { recursive: true });
    }
    fs.rmSync(there);
    assert.deepEqual(await agentThere(sshTransport('me@machine'), ['python3'], ours, sent), {
      ours: '1.2.3',
    });
    assert.ok(fs.existsSync(path.join(sent, 'stepscope_agent/__init__.py')));
  },
);

test(
  'an interrupt reaches nsys there, which keeps what it has; a second one ends it',
  withShell,
  async () => {
    withNsys();
    const stopAfter = (...times: number[]): StopRequests => ({
      listen(onRequest) {
        const timers = times.map(ms => setTimeout(onRequest, ms));
        return () => timers.forEach(clearTimeout);
      },
    });
    const kept = await runRemote(pod(), options(['100000'], { stop: stopAfter(600) }));
    assert.deepEqual([kept.stoppedBy, kept.files.length], ['interrupt', 1]);
    cleanThere();
    const other = path.join(work, 'out', 'other.nsys-rep');
    // Deaf to the first: what comes of it is nothing, and nobody stays.
    fs.writeFileSync(
      inFar('bin', 'nsys'),
      NSYS.replace('trap stop INT', "trap '' INT").replaceAll('@FAR@', far),
      { mode: 0o755 },
    );
    const ended = await runRemote(pod(), options(['100000'], { stop: stopAfter(500, 900), output: other }));
    assert.equal(ended.stoppedBy, 'kill');
    assert.equal(runFailure(ended)!.code, 'capture-failed');
    cleanThere();
    const left = fs
      .readdirSync('/proc')
      .filter(pid => /^\d+$/.test(pid) && commandOf(pid).includes(inFar('bin', 'engine')));
    assert.deepEqual(left, []);
  },
);

function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

test(
  'a pod that goes away in the middle of a copy: the next copy goes on from there',
  withShell,
  async () => {
    const content = randomBytes(50_000);
    fs.writeFileSync(inFar('home', 'big report'), content);
    const target = path.join(work, 'big');
    fs.writeFileSync(inFar('break'), '5');
    const options = { pieceBytes: 4096, tries: 2, waitMs: 1 };
    const error = await refused(() => copyBack(pod(), inFar('home', 'big report'), target, options));
    assert.match(error.message, /was interrupted: .*pod does not exist/);
    const [partial] = fs.readdirSync(work).filter(name => name.endsWith('.partial'));
    assert.equal(
      fs.statSync(path.join(work, partial)).size,
      5 * 4096,
      'half a piece was kept, or a whole one lost',
    );
    fs.rmSync(inFar('break'));
    fs.rmSync(inFar('pieces'));
    await copyBack(pod(), inFar('home', 'big report'), target, options);
    const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    assert.equal(hash(fs.readFileSync(target)), hash(content));
    assert.equal(
      fs.readFileSync(inFar('pieces'), 'utf8').split('\n').length - 1,
      8,
      'it began again from the start',
    );
    assert.deepEqual(
      fs.readdirSync(work).filter(name => name.endsWith('.partial')),
      [],
    );
  },
);

test('a copy overwrites nothing but by force', withShell, async () => {
  fs.writeFileSync(inFar('home', 'report'), 'new');
  const target = path.join(work, 'mine');
  fs.writeFileSync(target, 'old');
  assert.match(
    (await refused(() => copyBack(pod(), inFar('home', 'report'), target))).message,
    /already exists/,
  );
  assert.equal(fs.readFileSync(target, 'utf8'), 'old');
  await copyBack(pod(), inFar('home', 'report'), target, { force: true });
  await copyBack(pod(), inFar('home', 'report'), target);
  assert.equal(fs.readFileSync(target, 'utf8'), 'new');
});

test('what arrived otherwise than it was sent is refused', withShell, async () => {
  const file = path.join(work, 'source');
  fs.writeFileSync(file, 'x'.repeat(100));
  const { exec } = localTransport;
  const lying = {
    ...localTransport,
    exec: async (...[command, ...rest]: Parameters<typeof exec>) => {
      const answer = await exec(command, ...rest);
      return command[2].includes('sha256sum') ? { ...answer, stdout: `100\n${'0'.repeat(64)}  -\n` } : answer;
    },
  };
  const error = await refused(() => copyBack(lying, file, path.join(work, 'copy')));
  assert.equal(error.code, 'damaged');
  assert.ok(!fs.existsSync(path.join(work, 'copy')));
});

test('a side that sends more than it announced is cut off', withShell, async () => {
  const file = path.join(work, 'source');
  fs.writeFileSync(file, 'x'.repeat(100));
  let largest = 0;
  const endless = {
    ...localTransport,
    exec: async (...[command, options]: Parameters<typeof localTransport.exec>) => {
      const isPiece = options?.into !== undefined;
      const answer = await localTransport.exec(isPiece ? ['sh', '-c', 'yes'] : command, options);
      for (const name of fs.readdirSync(work))
        if (name.endsWith('.partial')) largest = Math.max(largest, fs.statSync(path.join(work, name)).size);
      return answer;
    },
  };
  await refused(() => copyBack(endless, file, path.join(work, 'copy'), { tries: 1 }));
  assert.ok(largest <= 100, `${largest} bytes were written`);
});

test('reports that could not be fetched stay there, and their place is named', withShell, async () => {
  withNsys();
  fs.writeFileSync(inFar('break'), '0');
  const notices: string[] = [];
  const error = await refused(() =>
    runRemote(pod(), options(['2'], { onNotice: text => notices.push(text) })),
  );
  assert.equal(error.code, 'unreachable');
  const said = notices.find(text => text.startsWith('the reports are still in pod llama-0'))!;
  const folder = /--fetch (\S+)$/.exec(said)![1];
  assert.equal(fs.readdirSync(path.join(folder, 'out')).length, 1);
  fs.rmSync(inFar('break'));
  const files = await fetchRemote(pod(), folder, options());
  assert.match(fs.readFileSync(files[0].path, 'latin1'), /^NVIDIA Tegra Profiler Report/);
  cleanThere();
  assert.equal((await refused(() => fetchRemote(pod(), '/etc', options()))).code, 'usage');
});

test('no nsys there: said, or brought along as a tree', withShell, async () => {
  script(inFar('bin', 'engine'), ENGINE);
  const error = await refused(() => runRemote(pod(), options()));
  assert.equal(error.code, 'needs-nsys');
  assert.match(error.hint, /--nsys-deb .*--nsys-tree/);
  cleanThere();
  const tree = path.join(work, 'a tree');
  fs.mkdirSync(path.join(tree, 'bin'), { recursive: true });
  script(path.join(tree, 'bin', 'nsys'), NSYS);
  const result = await runRemote(pod(), options(['2'], { source: { tree } }));
  assert.equal(result.files.length, 1);
  cleanThere();
});

test('a package needs root, is put in place by dpkg, and room for it', withShell, async () => {
  script(inFar('bin', 'engine'), ENGINE);
  const deb = path.join(work, 'nsight systems.deb');
  fs.writeFileSync(deb, NSYS.replaceAll('@FAR@', far));
  // As dpkg would: what is in the package is on PATH afterwards.
  script(
    inFar('bin', 'dpkg'),
    '#!/bin/sh\n[ "$1 $2" = "--force-depends -i" ] && cp "$3" @FAR@/bin/nsys && chmod=1 && /bin/chmod 755 @FAR@/bin/nsys\n',
  );
  fs.rmSync(inFar('bin', 'id'));
  script(inFar('bin', 'id'), '#!/bin/sh\necho 1000\n');
  const rights = await refused(() => runRemote(pod(), options(['2'], { source: { deb } })));
  assert.match(`${rights.message} ${rights.hint}`, /needs root.*runAsUser: 0/);
  script(inFar('bin', 'id'), '#!/bin/sh\necho 0\n');
  const result = await runRemote(pod(), options(['2'], { source: { deb } }));
  assert.equal(result.files.length, 1);
  fs.rmSync(inFar('bin', 'nsys'));
  fs.rmSync(inFar('bin', 'df'));
  script(
    inFar('bin', 'df'),
    "#!/bin/sh\necho 'Filesystem 1024-blocks Used Available'; echo 'overlay 100 100 0 100% /'\n",
  );
  const full = await refused(() =>
    runRemote(pod(), options(['2'], { source: { deb }, output: path.join(work, 'third.nsys-rep') })),
  );
  assert.equal(full.code, 'no-space');
  cleanThere();
});

test('a disk that fills up there while the report is written', withShell, async () => {
  withNsys();
  fs.writeFileSync(inFar('full'), '');
  const error = await refused(() => runRemote(pod(), options()));
  assert.equal(error.code, 'no-space');
  assert.match(error.message, /disk of pod llama-0 filled up/);
});

test('what kubectl and ssh refuse comes with what to do', async () => {
  withNsys();
  const tried = async (transport: ReturnType<typeof pod>) => {
    const { message, hint } = await refused(() => runRemote(transport, options()));
    return `${message} | ${hint}`;
  };
  assert.match(
    await tried(kubectlTransport({ pod: 'llama-1' })),
    /pods "llama-1" not found \| .*-n NAMESPACE/,
  );
  assert.match(
    await tried(kubectlTransport({ pod: 'llama-0', container: 'sidecar' })),
    /container sidecar is not valid.* \| .*-c/,
  );
  assert.match(
    await tried(kubectlTransport({ pod: 'llama-0', namespace: 'closed' })),
    /forbidden.* \| .*pods\/exec/,
  );
  assert.match(await tried(sshTransport('other@machine')), /Permission denied.* \| .*key/);
  for (const name of ['-o', 'a b', 'x;rm -rf /', '--all', '$(id)', 'Pod'])
    assert.equal((await refused(() => kubectlTransport({ pod: name }))).code, 'usage', name);
  for (const name of ['-oProxyCommand=touch PWNED', 'a b', 'x;y', '$(id)'])
    assert.equal((await refused(() => sshTransport(name))).code, 'usage', name);
});

test('a machine without GPU, rights or visible devices is doubted, with the fix', withShell, async () => {
  const machine = await lookAt(pod());
  assert.equal(machine.nsys, undefined);
  const doubts = doubtsAbout({ root: false, gpus: 0, visibleDevices: '', freeBytes: 1 }, true).join('\n');
  for (const fix of [/nvidia\.com\/gpu: 1/, /CUDA_VISIBLE_DEVICES/, /runAsUser: 0/])
    assert.match(doubts, fix);
  assert.deepEqual(doubtsAbout({ root: true, gpus: 1, freeBytes: 1 }, true), []);
});

test('the one-line form for CI hands its words on as they are', withShell, () => {
  const bin = path.join(work, 'project/bin');
  fs.mkdirSync(path.join(work, 'project/scripts'), { recursive: true });
  fs.mkdirSync(bin, { recursive: true });
  const form = path.join(work, 'project/scripts/run-nsys-profile.sh');
  fs.copyFileSync(path.join(projectRoot, 'scripts/run-nsys-profile.sh'), form);
  script(path.join(bin, 'stepscope'), `#!/bin/sh\nprintf '%s\\0' "$@"\n`);
  const env = { ...process.env, NAMESPACE: 'a b', NSYS_DEB: 'x;y' };
  const { stdout, status } = spawnSync(form, ['llama-0', 'my out', '--gc', '--', 'engine', ...HOSTILE], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  const expected = [
    'capture',
    '--pod=llama-0',
    '--output=my out',
    '--namespace=a b',
    '--nsys-deb',
    'x;y',
    '--gc',
    '--',
    'engine',
    ...HOSTILE,
  ];
  assert.deepEqual(stdout.split('\0').slice(0, -1), expected);
  // Without a command: the server that runs there.
  const two = spawnSync(form, ['llama-0', 'out'], { env: process.env, encoding: 'utf8' });
  assert.deepEqual(two.stdout.split('\0').slice(0, -1), [
    'capture',
    '--attach',
    '--pod=llama-0',
    '--output=out',
  ]);
  assert.equal(spawnSync(form, ['llama-0'], { env }).status, 2);
});
