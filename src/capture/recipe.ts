/**
 * How a profile was made, kept beside it (`PROFILE.recipe.json`, docs/schemas/recipe.schema.json). It holds what we
 * set and never what the user's environment held. Read back, it is a stranger's file like any other: bounded, checked
 * field by field, and shown. Nothing in it is ever run. Of the files it names, those of the agent, the engine and the
 * load are opened with the profile if they lie next to it and have the recorded content.
 */
import type { Static } from '../base/document.js';
import type { recipeSchema } from './capture-schema.js';

export const RECIPE_ENDING = '.recipe.json';
export const MOST_RECIPE_BYTES = 1 << 20;
const FORM = 'stepscope-recipe/1';

export type Recipe = Static<typeof recipeSchema>;

/** Undefined for anything that is not a recipe of ours. */
export function parseRecipe(text: string): Recipe | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || value.schema !== FORM) return undefined;
  const { command, environment, versions, startedUtc, endedUtc, status, where, outputs } = value;
  const sound =
    Array.isArray(command) &&
    command.every(isText) &&
    isTextMap(environment) &&
    isTextMap(versions) &&
    isText(startedUtc) &&
    isText(endedUtc) &&
    isText(where) &&
    (status === null || Number.isInteger(status)) &&
    (value.stoppedBy === undefined || isText(value.stoppedBy)) &&
    [value.window, value.iterations].every(span => span === undefined || isSpan(span)) &&
    Array.isArray(outputs) &&
    outputs.every(isOutput);
  return sound ? (value as unknown as Recipe) : undefined;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 100_000;
const isTextMap = (value: unknown) => isObject(value) && Object.values(value).every(isText);
const isSpan = (value: unknown) =>
  isObject(value) && Number.isInteger(value.first) && Number.isInteger(value.last);
const isOutput = (value: unknown) =>
  isObject(value) &&
  isText(value.name) &&
  (value.kind === undefined || isText(value.kind)) &&
  !/[/\\\0]/.test(value.name) &&
  Number.isInteger(value.bytes) &&
  typeof value.sha256 === 'string' &&
  /^[0-9a-f]{64}$/.test(value.sha256);
