/** The Python package for tests: its wheel, built once, in an environment that holds it and what it depends on. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import { projectRoot } from '../src/testing/captures.js';
import { locate } from '../src/testing/needs.js';

type Variables = Readonly<Record<string, string | undefined>>;

export function runProgram(program: string, args: readonly string[], cwd: string, variables: Variables = {}) {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const { status, stdout, stderr } = spawnSync(program, args, {
    ...{ cwd, env, encoding: 'utf8', timeout: 180_000, maxBuffer: 1e8 },
  });
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' };
}

export function mustRun(
  program: string,
  args: readonly string[],
  cwd: string,
  variables: Variables = {},
): string {
  const ran = runProgram(program, args, cwd, variables);
  assert.equal(ran.status, 0, `${program} ${args.join(' ')}\n${ran.stdout}\n${ran.stderr}`);
  return ran.stdout;
}

export function buildWheel(home: string): string {
  const to = mkdtempSync(path.join(home, 'wheel-'));
  mustRun(process.execPath, [path.join(projectRoot, 'scripts/build-wheel.mjs'), to], home);
  return path.join(to, readdirSync(to)[0]);
}

/** A fresh environment with the wheel; pyarrow and the like are those of the test tools. */
export function environmentWith(wheel: string, home: string): string {
  const tools = locate('notebook')!;
  const folder = mkdtempSync(path.join(home, 'environment-'));
  mustRun(tools, ['-m', 'venv', '--without-pip', folder], home);
  const python = path.join(folder, 'bin/python');
  const siteOf = (name: string) =>
    mustRun(name, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'], home).trim();
  writeFileSync(path.join(siteOf(python), 'tools.pth'), `${siteOf(tools)}\n`);
  const install = ['-m', 'pip', '--python', python, 'install', '-q', '--no-index', '--no-deps', wheel];
  mustRun(tools, install, home);
  return python;
}
