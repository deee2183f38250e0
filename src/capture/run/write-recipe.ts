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
  for (const { path: file, bytes } of files)
    outputs.push({ name: path.basename(file), bytes, sha256: await sha256Of(file) });
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
  const folder = path.dirname(profile);
  const stat = fs.statSync(profile, { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  for (const file of candidates(profile, folder)) {
    const recipe = readBounded(file);
    const known = recipe?.outputs.filter(
      ({ name, bytes }) => name === path.basename(profile) && bytes === stat.size,
    );
    if (!recipe || !known?.length) continue;
    const sha256 = await sha256Of(profile);
    if (known.some(output => output.sha256 === sha256)) return recipe;
  }
  return undefined;
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
