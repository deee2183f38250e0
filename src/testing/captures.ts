/** Where tests find profiles: the project's own captures, and other people's where that folder is beside the project. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const ALIKE =
  /^(agent-(deepseek|gpt-oss|graph-creation|llama-graph|router-perfect|ranks)|eager-decode|moe-perfect|stressblock)/;

/** Root of the project: this file is compiled to dist/src/testing. */
export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url));
export const capturesFolder = path.join(projectRoot, 'test/fixtures/captures');
/** Named by STEPSCOPE_EXTERNAL; by default a folder beside the project. Tests over it are skipped where it is not. */
export const externalFolder = process.env.STEPSCOPE_EXTERNAL ?? path.join(projectRoot, '../shared/external');

export const captureNames: readonly string[] = readdirSync(capturesFolder)
  .filter(name => statSync(path.join(capturesFolder, name)).isDirectory())
  .sort();

/**
 * One of each kind: what holds for every file is looked at in these. The rest differ from one of them in the model or
 * the router; STEPSCOPE_EVERY_CAPTURE=1 takes them too.
 */
export const unlikeCaptures: readonly string[] = captureNames.filter(
  name => process.env.STEPSCOPE_EVERY_CAPTURE || !ALIKE.test(name),
);

export const capturePath = (name: string, file = 'profile.sqlite.gz') =>
  path.join(capturesFolder, name, file);

/** All files below the folder of external profiles with one of these endings; none where the folder is absent. */
export function externalFiles(ending: RegExp, folder = externalFolder): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => path.join(folder, name))
    .filter(file => ending.test(file) && statSync(file).isFile())
    .sort();
}

export function readText(file: string): string {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
