/** The table of options: how words become values, what the last version took, and completion. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { completionScript } from '../src/cli/completion.js';
import * as kinds from '../src/cli/option-kinds.js';
import { options } from '../src/cli/options.js';
import { optionsOf, readCall } from '../src/cli/read-call.js';
import { allCommands, loadCommand } from '../src/cli/registry.js';
import { capturePath } from '../src/testing/captures.js';
import { npyOf } from '../src/testing/load-files.js';
import { lacks } from '../src/testing/needs.js';
import { keptOutput, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-options-'));
const inFolder = (name: string) => path.join(folder, name);
after(() => rmSync(folder, { recursive: true }));
const stepscope = (...args: string[]) => runStepscope(args);

test('a command takes a flag once, and every option has a command', async () => {
  const taken = new Set<string>();
  for (const command of await allCommands()) {
    const own = optionsOf(command);
    const words = own.flatMap(name => {
      const { flag, short } = { short: undefined, ...options[name] };
      return short ? [flag, short] : [flag];
    });
    assert.deepEqual(words, [...new Set(words)], command.name);
    for (const name of own) taken.add(name);
  }
  assert.deepEqual(
    Object.keys(options).filter(name => !taken.has(name)),
    [],
  );
});

test('a file alone is analyzed; a command of that name goes first', async () => {
  const capture = capturePath('eager');
  assert.equal((await stepscope(capture)).out, (await stepscope('analyze', capture)).out);
  assert.equal((await stepscope(capture, '--json')).out, (await stepscope('analyze', capture, '--json')).out);
});

test('slips are told with what was meant, in two lines', async () => {
  for (const [args, says] of [
    [['analyse', 'x'], /"analyse" is neither a command nor a file\.\nDid you mean analyze\?/],
    [['baseline', 'svae', 'x'], /Unknown command "baseline svae"\.\nUse one of: stepscope baseline save/],
    [['baseline'], /No baseline command was given\.\n/],
    [['steps', 'x', '--iteration', '1'], /Unknown option '--iteration'\.\nDid you mean --iterations\?/],
    [['compare', 'a', 'b', '--treshold', '2%'], /Did you mean --threshold\?/],
    [['steps', 'x', '--zzzzzzz'], /Unknown option '--zzzzzzz'\.\nSee: stepscope steps --help/],
    [['steps', 'x', '--rows'], /argument missing/],
    [['completion', 'csh'], /Use one of: bash, zsh, fish/],
  ] as const) {
    const { err, status } = await stepscope(...args);
    assert.equal(status, 2, args.join(' '));
    assert.match(err, says);
    assert.equal(err.trimEnd().split('\n').length, 2, err);
  }
  assert.match((await stepscope('baseline', '--help')).out, /baseline save .*\n {2}baseline list/);
  assert.match((await stepscope('moe', '--help')).out, /subcommands:\n {2}moe place /);
  assert.match((await stepscope('help', 'moe', 'place')).out, /usage: stepscope moe place FILE/);
});

test('one spelling for lengths, percentages, times and spans', () => {
  const reads = <Value>(kind: { read(text: string, flag: string): Value }, text: string) =>
    kind.read(text, '--x');
  assert.deepEqual(reads(kinds.lengths, 'uniform:16-64'), { kind: 'uniform', least: 16, most: 64 });
  assert.equal(reads(kinds.percentage('percent'), '2.5%'), 0.025);
  assert.deepEqual(
    ['60s', '60', '500ms', '2min', '1h'].map(text => reads(kinds.duration, text) / 1e9),
    [60, 60, 0.5, 120, 3600],
  );
  assert.deepEqual(reads(kinds.spans, '3,10-20'), [
    { first: 3, last: 3 },
    { first: 10, last: 20 },
  ]);
  for (const [kind, text] of [
    [kinds.percentage('percent'), '101%'],
    [kinds.percentage('percent'), 'much'],
    [kinds.percentage('share', Number.EPSILON), '0%'],
    [kinds.duration, '5 apples'],
    [kinds.spans, '9-3'],
    [kinds.whole(1, 8), '9'],
    [kinds.lengths, 'uniform:16:64'],
  ] as const)
    assert.throws(() => kind.read(text, '--x'), { name: 'UserError', code: 'usage' }, text);
});

/** What a call of the last version means today, and the one line it is told with. */
const old: readonly (readonly [name: string, was: string, now: string])[] = [
  ['dataset', '--input 16', '--input-tokens 16'],
  ['dataset', '--input uniform:16:64', '--input-tokens uniform:16-64'],
  ['dataset', '--input-tokens uniform:16:64', '--input-tokens uniform:16-64'],
  ['load', '--input-tokens uniform:16:64', '--input-tokens uniform:16-64'],
  ['dataset', '--output 128', '--output-tokens 128'],
  ['dataset', '--file d.txt', '--output d.txt'],
  ['load', '--level single', '--levels single'],
  ['compare', '--threshold 2', '--threshold 2%'],
  ['moe', '--expert-share 0.4', '--expert-share 40%'],
  ['baseline list', '--file b.json', '--baselines b.json'],
  ['check', '--file b.json', '--baselines b.json'],
  ['compare', '--html page.html', '--html -o page.html'],
  ['moe', '--html page.html', '--html -o page.html'],
];

for (const [name, was, now] of old)
  test(`${name} ${was} still works, and says to write ${now}`, async () => {
    const command = await loadCommand(name);
    const read = (words: string) => {
      const { output, written } = keptOutput();
      const { values, given, destination } = readCall(command, words.split(' '), output);
      return { meant: { values, given, destination }, err: written.err };
    };
    const [before, today] = [read(was), read(now)];
    assert.deepEqual(before.meant, today.meant);
    assert.equal(before.err, `stepscope: ${was} is now ${now}; the next version removes the old spelling.\n`);
    assert.equal(today.err, '');
  });

test('a dataset of the last version: every word of it, and the same bytes', async () => {
  const words = (text: string) => runStepscope(['dataset', ...text.split(' ')]);
  const before = await words(
    `--requests 20 --input uniform:3:9 --output normal:5:2 --file ${inFolder('old.txt')}`,
  );
  const today = await words(
    `--requests 20 --input-tokens uniform:3-9 --output-tokens normal:5:2 -o ${inFolder('new.txt')}`,
  );
  assert.deepEqual([before.status, today.status], [0, 0], before.err + today.err);
  assert.equal(readFileSync(inFolder('old.txt'), 'utf8'), readFileSync(inFolder('new.txt'), 'utf8'));
});

test('moe experiment: --dry-run prints, nothing prints with a word, --run runs', async () => {
  const program = ['--', 'node', '--version'];
  const dry = await stepscope('moe', 'experiment', '--dry-run', '-o', inFolder('pair'), ...program);
  const bare = await stepscope('moe', 'experiment', '-o', inFolder('pair'), ...program);
  assert.deepEqual([dry.status, bare.status, dry.err], [0, 0, '']);
  assert.equal(bare.out, dry.out);
  assert.match(
    bare.err,
    /^stepscope: nothing was run\. The next version runs the pair by default; .*--dry-run.*\n$/,
  );
  const ran = await stepscope(
    'moe',
    'experiment',
    '--run',
    '--repeats',
    '1',
    '-o',
    inFolder('pair'),
    ...program,
  );
  assert.match(ran.err, /^learned-1: node --version\nperfect-1: node --version\n/m);
});

test('-o writes what the ending says, - prints, and a page is refused where one is', async () => {
  const file = inFolder('loads.npy');
  writeFileSync(file, npyOf('<i4', [4, 2, 16], new Array(128).fill(3)));
  const moe = (...more: string[]) => stepscope('moe', file, '--gpus', '4', ...more);
  await moe('-o', inFolder('a.json'));
  assert.equal(readFileSync(inFolder('a.json'), 'utf8'), (await moe('--json')).out);
  assert.equal((await moe('--json', '-o', '-')).out, (await moe('--json')).out);
  const twice = await moe('-o', inFolder('a.json'));
  assert.deepEqual([twice.status, twice.out], [2, '']);
  assert.equal((await moe('-o', inFolder('a.json'), '--force')).status, 0);
  assert.match((await moe('--json', '--csv')).err, /Several formats were given\.\nUse one of: table, json/);
});

test('completion: scripts of every shell know commands, options and choices', async () => {
  const all = await allCommands();
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const { out, status } = await stepscope('completion', shell);
    assert.equal(status, 0);
    assert.equal(out, completionScript(shell, all));
    for (const word of ['analyze', 'experiment', shell === 'fish' ? '-l sequence' : '--sequence', 'prefill'])
      assert.ok(out.includes(word), `${shell}: ${word}`);
  }
});

test('completion in a real bash', { skip: lacks('shell') }, async () => {
  const script = (await stepscope('completion', 'bash')).out;
  const complete = (...words: string[]) => {
    const ask = `COMP_WORDS=(stepscope "$@"); COMP_CWORD=$#; _stepscope; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${ask}`, 'bash', ...words], {
      encoding: 'utf8',
    });
    assert.equal(stderr, '');
    return stdout.split('\n').filter(Boolean);
  };
  assert.deepEqual(complete('an'), ['analyze']);
  assert.deepEqual(complete('moe', 'p'), ['place']);
  assert.deepEqual(complete('steps', 'x', '--se'), ['--sequence']);
  assert.deepEqual(complete('moe', 'place', '--sw'), ['--sweep']);
  assert.deepEqual(complete('analyze', 'x', '--phase', 'pre'), ['prefill']);
  assert.deepEqual(complete('stats', 'x', '--format', 'm'), ['markdown']);
  // A file is to follow: bash completes those by itself.
  assert.deepEqual(complete('analyze', 'x', '--rules', '-'), []);
});
