/** What people use Stepscope through: the GitHub Action, tasks of VS Code, the container image. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { readCall } from '../src/cli/read-call.js';
import { allCommands } from '../src/cli/registry.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks } from '../src/testing/needs.js';
import { keptOutput, runStepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-habits-'));
after(() => rmSync(folder, { recursive: true }));
const read = (name: string) => readFileSync(path.join(projectRoot, name), 'utf8');
const inFolder = (name: string, text: string) => {
  writeFileSync(path.join(folder, name), text);
  return path.join(folder, name);
};
const policy = inFolder('policy.yaml', 'limits:\n  - {metric: step.p50, max: 1s}\n');
const strict = inFolder('strict.yaml', 'limits:\n  - {metric: step.p50, max: 1us}\n');

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly runs: {
    readonly steps: readonly { readonly env: Record<string, string>; readonly run: string }[];
  };
}
const action = parse(read('action.yml')) as Action;
const [step] = action.runs.steps;

test('the action hands every input to its script, and puts none into the script', () => {
  const script = read('scripts/action-check.sh');
  accessSync(path.join(projectRoot, 'scripts/action-check.sh'), constants.X_OK);
  assert.doesNotMatch(step.run, /\$\{\{/);
  for (const name of Object.keys(action.inputs)) {
    const variable = `INPUT_${name.toUpperCase().replaceAll('-', '_')}`;
    assert.equal(step.env[variable], `\${{ inputs.${name} }}`);
    assert.ok(script.includes(`$${variable}"`), variable);
  }
  const used = [...script.matchAll(/\$\{?(INPUT_[A-Z_]+)/g)].map(([, name]) => name);
  assert.deepEqual(
    [...new Set(used)].filter(name => !(name in step.env)),
    [],
  );
});

test('the action checks, writes its outputs and comments; a regression fails it', {
  skip: lacks('shell'),
}, () => {
  const comments = path.join(folder, 'comments');
  const gh = inFolder('gh', `#!/bin/sh\necho "$@" >> '${comments}'\n`);
  chmodSync(gh, 0o755);
  const run = (own: Readonly<Record<string, string>>) => {
    const outputs = inFolder('outputs', '');
    const defaults = Object.entries(action.inputs).map(
      ([name, { default: value = '' }]) =>
        [`INPUT_${name.toUpperCase().replaceAll('-', '_')}`, value] as const,
    );
    const { status, stderr, stdout } = spawnSync(path.join(projectRoot, 'scripts/action-check.sh'), {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        ...Object.fromEntries(defaults),
        INPUT_PROFILE: `${capturePath('gil')}\n`,
        PULL_REQUEST: '12',
        GITHUB_OUTPUT: outputs,
        PATH: `${folder}:${process.env.PATH}`,
        ...own,
      },
    });
    return { status, told: readFileSync(outputs, 'utf8'), said: `${stdout}${stderr}` };
  };
  const passed = run({ INPUT_POLICY: policy });
  assert.deepEqual([passed.status, passed.told], [0, 'verdict=pass\nexit-code=0\n'], passed.said);
  assert.match(
    readFileSync(comments, 'utf8'),
    /^pr comment 12 --edit-last --create-if-none --body-file \S+check\.md\n$/,
  );
  assert.match(readFileSync(path.join(folder, 'stepscope-check/check.md'), 'utf8'), /step\.p50/);
  assert.match(readFileSync(path.join(folder, 'stepscope-check/check.xml'), 'utf8'), /<testsuite/);
  const failed = run({ INPUT_POLICY: strict, INPUT_COMMENT: 'false' });
  assert.deepEqual([failed.status, failed.told], [1, 'verdict=regression\nexit-code=1\n'], failed.said);
  assert.match(failed.said, /^::error /m);
  assert.equal(readFileSync(comments, 'utf8').trimEnd().split('\n').length, 1, 'no second comment');
});

interface Tasks {
  readonly tasks: readonly {
    readonly command: string;
    readonly args: readonly string[];
    readonly problemMatcher: { readonly pattern?: { readonly regexp: string } } | readonly unknown[];
  }[];
}

test('tasks of VS Code are commands that exist, and the check’s lines are found', async () => {
  const { tasks } = JSON.parse(read('docs/examples/vscode-tasks.json')) as Tasks;
  const commands = await allCommands();
  for (const { command, args } of tasks) {
    assert.equal(command, 'stepscope');
    const known = [2, 1].flatMap(
      words => commands.find(({ name }) => name === args.slice(0, words).join(' ')) ?? [],
    )[0];
    assert.ok(known, args.join(' '));
    readCall(known, args.slice(known.name.split(' ').length), keptOutput().output);
  }
  const check = tasks.find(({ args }) => args[0] === 'check')!.problemMatcher as {
    pattern: { regexp: string };
  };
  const { out } = await runStepscope(['check', capturePath('gil'), '--policy', strict, '--github']);
  const [, severity, file, line] = new RegExp(check.pattern.regexp, 'm').exec(out)!;
  assert.deepEqual([severity, path.basename(file), line], ['error', 'strict.yaml', '2']);
});

test('the image runs the command with a Node that it supports, as a user without rights', () => {
  const lines = read('Dockerfile').split('\n');
  const [oldest] = /\d+/.exec(JSON.parse(read('package.json')).engines.node)!;
  for (const line of lines.filter(one => one.startsWith('FROM')))
    assert.ok(Number(/node:(\d+)/.exec(line)?.[1]) >= Number(oldest), line);
  assert.ok(lines.indexOf('USER node') > lines.findLastIndex(line => line.startsWith('RUN')));
  assert.ok(lines.includes('ENTRYPOINT ["stepscope"]'));
  assert.ok(read('.dockerignore').split('\n').includes('.git'));
});
