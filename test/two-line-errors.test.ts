/** What the system refuses, and what is no file at all: two lines and an exit code, never a stack, a hang or a flood. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';

const folder = fs.mkdtempSync(path.join(tmpdir(), 'stepscope-errors-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
const capture = capturePath('stress');
const onUnix = { skip: lacks('shell') };

function stepscope(
  args: readonly string[],
  settings: { env?: NodeJS.ProcessEnv; stdout?: number; before?: readonly string[] } = {},
) {
  const command = [
    ...(settings.before ?? []),
    process.execPath,
    path.join(projectRoot, 'bin/stepscope'),
    ...args,
  ];
  const { status, signal, stderr } = spawnSync(command[0], command.slice(1), {
    env: { ...process.env, ...settings.env },
    stdio: ['ignore', settings.stdout ?? 'pipe', 'pipe'],
    timeout: 20_000,
    encoding: 'utf8',
  });
  assert.equal(signal, null, `${args.join(' ')} hung`);
  return { status, lines: stderr.trimEnd().split('\n') };
}

function refuses(
  args: readonly string[],
  expected: RegExp,
  settings?: Parameters<typeof stepscope>[1],
): void {
  const { status, lines } = stepscope(args, settings);
  assert.notEqual(status, 0, args.join(' '));
  assert.equal(lines.length, 2, lines.join('\n'));
  assert.match(lines[0], expected);
}

test('links that lead nowhere or in circles, and names that are not UTF-8, are passed over', onUnix, () => {
  const mixed = path.join(folder, 'mixed');
  fs.mkdirSync(mixed);
  fs.symlinkSync('nowhere', path.join(mixed, 'dangling.sqlite'));
  fs.symlinkSync('loop.sqlite', path.join(mixed, 'loop.sqlite'));
  fs.writeFileSync(
    Buffer.concat([Buffer.from(`${mixed}/x`), Buffer.from([0xff]), Buffer.from('.sqlite')]),
    '',
  );
  refuses(['info', mixed], /contains no profile/);
  refuses(['bench', mixed], /contains no benchmark/);
  refuses(['moe', mixed], /mixed/);
  fs.copyFileSync(capture, path.join(mixed, 'a.sqlite.gz'));
  assert.equal(stepscope(['info', mixed]).status, 0);
});

test('a TMPDIR that is not there', onUnix, () => {
  const env = { TMPDIR: path.join(folder, 'missing') };
  refuses(['info', capture], /temporary f/, { env });
});

test('a folder that may not be listed', onUnix, () => {
  const closed = path.join(folder, 'closed');
  fs.mkdirSync(closed, { mode: 0 });
  // The root user may list anything, unless that power is taken away. Another user might not reach the program.
  const before = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-all', '--inh-caps', '-all'] : [];
  refuses(['info', closed], /cannot be listed/, { before });
});

test('a full standard output is no regression', {
  skip: lacks('shell'),
}, () => {
  const stdout = fs.openSync('/dev/full', 'w');
  try {
    refuses(['info', capture], /could not be written: ENOSPC/, { stdout });
    const policy = path.join(folder, 'policy.yaml');
    fs.writeFileSync(policy, 'limits:\n  - metric: stepNs\n    max: 1 h\n');
    const { status, lines } = stepscope(['check', capture, '--policy', policy], { stdout });
    assert.ok(status !== 0 && status !== 1 && status !== 2, `${status}: ${lines}`);
  } finally {
    fs.closeSync(stdout);
  }
});

test('pipes and devices are no files', onUnix, () => {
  const pipe = path.join(folder, 'pipe');
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  for (const given of [pipe, '/dev/zero']) {
    for (const command of ['info', 'analyze', 'stats', 'bench', 'moe', 'families', 'frameworks'])
      refuses([command, given], /not a file/);
    refuses(['check', capture, '--policy', given], /not a file/);
    refuses(
      ['check', capture, '--policy', path.join(folder, 'policy.yaml'), '--baselines', given],
      /policy|not a file/,
    );
    refuses(['analyze', capture, '--rules', given], /not a file/);
    refuses(['analyze', capture, '--model', given], /not a file/);
    refuses(['load', 'http://127.0.0.1:9', '--dataset', given], /not a file/);
    refuses(['baseline', 'list', '--baselines', given], /not a file/);
  }
});
