/** Writes the recipe beside the profile, and finds the one that belongs to a profile: by the hash of its content. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { withoutEndings } from '../../catalog/file-formats.js';
import { withoutSecretValues } from '../../catalog/secret-shapes.js';
import { PRIVATE_MODE, writeWhole } from '../../disk/write-whole.js';
import { MOST_RECIPE_BYTES, parseRecipe, RECIPE_ENDING, type Recipe } from '../recipe.js';
import type { RunResult } from './run-plan.js';
import type { Runnable } from './runnable.js';
import { isWrittenReport } from './written-files.js';

interface RecipeFacts {
  readonly versions: Readonly<Record<string, string>>;
  readonly where: string;
  readonly window?: Recipe['window'];
}

type Ran = Pick<RunResult, 'files' | 'startedUtc' | 'endedUtc' | 'status' | 'stoppedBy' | 'iterations'>;

/** `PROFILE.nsys-rep` has `PROFILE.recipe.json`; one recipe for all the ranks, named after the first. */
export const recipePath = (profile: string): string => `${withoutEndings(profile)}${RECIPE_ENDING}`;

export async function writeRecipe(plan: Runnable, ran: Ran, facts: RecipeFacts): Promise<string | undefined> {
  const files = ran.files.filter(({ bytes }) => bytes > 0);
  if (files.length === 0) return undefined;
  const outputs = [];
  for (const { path: file, bytes, kind } of files)
    outputs.push({ name: path.basename(file), kind, bytes, sha256: await sha256Of(file) });
  const recipe: Recipe = {
    schema: 'stepscope-recipe/1',
    command: plan.command,
    environment: plan.env,
    versions: facts.versions,
    startedUtc: ran.startedUtc,
    endedUtc: ran.endedUtc,
    status: ran.status,
    ...(ran.stoppedBy ? { stoppedBy: ran.stoppedBy } : {}),
    where: facts.where,
    ...(facts.window ? { window: facts.window } : {}),
    ...(ran.iterations ? { iterations: ran.iterations } : {}),
    outputs,
    plan,
  };
  const target = recipePath((files.find(isWrittenReport) ?? files[0]).path);
  // Command lines carry keys, and the recipe is made to be handed on.
  const text = `${JSON.stringify(withoutSecretValues(recipe), null, 1)}\n`;
  writeWhole(target, text, { mode: PRIVATE_MODE });
  return target;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(fs.createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** The recipe beside a profile, if it is about this very content. A copy under another name finds none. */
export async function recipeBeside(profile: string): Promise<Recipe | undefined> {
  let sha256: string | undefined;
  for (const recipe of recipesNaming(profile)) {
    sha256 ??= await sha256Of(profile);
    const isSame = (output: Recipe['outputs'][number]) =>
      output.name === path.basename(profile) && output.sha256 === sha256;
    if (recipe.outputs.some(isSame)) return recipe;
  }
  return undefined;
}

/** Those beside a profile that name it with its size: without reading the profile, which may be large. */
export function recipesNaming(profile: string): Recipe[] {
  const stat = fs.statSync(profile, { throwIfNoEntry: false });
  if (!stat?.isFile()) return [];
  const names = ({ name, bytes }: Recipe['outputs'][number]) =>
    name === path.basename(profile) && bytes === stat.size;
  return candidates(profile, path.dirname(profile)).flatMap(file => {
    const recipe = readBounded(file);
    return recipe?.outputs.some(names) ? [recipe] : [];
  });
}

const MOST_CANDIDATES = 20;

/** Its own first; then any in the folder, since ranks share one. */
function candidates(profile: string, folder: string): string[] {
  let names: string[] = [];
  try {
    names = fs.readdirSync(folder).filter(name => name.endsWith(RECIPE_ENDING));
  } catch {
    // The folder may be closed to us.
  }
  const own = recipePath(profile);
  return [...new Set([own, ...names.sort().map(name => path.join(folder, name))])].slice(0, MOST_CANDIDATES);
}

function readBounded(file: string): Recipe | undefined {
  try {
    const stat = fs.statSync(file);
    if (!stat.isFile() || stat.size > MOST_RECIPE_BYTES) return undefined;
    return parseRecipe(fs.readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Of the first file that has one: ranks of a run share it. */
export async function recipeBesideAny(files: readonly string[]): Promise<Recipe | undefined> {
  for (const file of files) {
    const recipe = await recipeBeside(file);
    if (recipe) return recipe;
  }
  return undefined;
}
