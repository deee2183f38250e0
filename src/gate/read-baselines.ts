/** A file of baselines as it is read: someone may have edited it, merged it badly, or written it with another version. */

import { printable } from '../base/printable.js';
import { UserError } from '../base/user-error.js';
import { isPhase } from '../catalog/phases.js';
import { metricById } from '../run/metrics.js';
import type { Run } from '../run/run.js';
import { BASELINES_FORM, type Baseline, type Baselines, MOST_BASELINES, MOST_RUNS } from './baselines.js';

type Fields = Readonly<Record<string, unknown>>;

export function parseBaselines(text: string, file: string): Baselines {
  const wrong = (what: string) => new UserError('damaged', `${file} is not a baselines file: ${what}.`, HINT);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw wrong(printable((error as Error).message).slice(0, 200));
  }
  if (!isObject(json)) throw wrong('it is not an object');
  if (json.schema !== BASELINES_FORM) {
    const said = typeof json.schema === 'string' ? json.schema.slice(0, 60) : 'no schema';
    throw wrong(`its schema is ${JSON.stringify(said)}, this version reads ${BASELINES_FORM}`);
  }
  const { baselines } = json;
  if (!Array.isArray(baselines) || baselines.length > MOST_BASELINES)
    throw wrong(`"baselines" must be a list of at most ${MOST_BASELINES}`);
  const names = new Set<unknown>();
  for (const entry of baselines as unknown[]) {
    const problem = baselineProblem(entry);
    const name = isObject(entry) && typeof entry.name === 'string' ? entry.name : '?';
    if (problem) throw wrong(`baseline ${JSON.stringify(name.slice(0, 100))}: ${problem}`);
    if (names.has(name)) throw wrong(`baseline ${JSON.stringify(name)} appears twice`);
    names.add(name);
  }
  return { baselines: baselines as Baseline[] };
}

const HINT = 'Restore it from your repository, or save the baselines again with stepscope baseline save.';

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isTextOrNull = (value: unknown) => value === null || (typeof value === 'string' && value.length <= 200);

function baselineProblem(entry: unknown): string | undefined {
  if (!isObject(entry)) return 'it is not an object';
  if (typeof entry.name !== 'string' || typeof entry.tool !== 'string') return 'name or tool is missing';
  const { runs } = entry;
  if (!Array.isArray(runs) || runs.length === 0 || runs.length > MOST_RUNS)
    return `"runs" must be a list of 1 to ${MOST_RUNS}`;
  for (const [i, run] of (runs as unknown[]).entries()) {
    const problem = runProblem(run);
    if (problem) return `run ${i + 1}: ${problem}`;
  }
  return undefined;
}

function runProblem(run: unknown): string | undefined {
  if (!isObject(run)) return 'it is not an object';
  const { files, facts, figures, steps } = run as unknown as { [Name in keyof Run]: unknown };
  if (!Array.isArray(files) || !files.every(name => typeof name === 'string'))
    return '"files" is not a list of names';
  if (!isObject(facts) || !isObject(figures) || !isObject(steps))
    return '"facts", "figures" or "steps" is missing';
  return factsProblem(facts) ?? figuresProblem(figures) ?? stepsProblem(steps);
}

function factsProblem(facts: Fields): string | undefined {
  for (const name of ['gpu', 'engine', 'stepsFoundBy', 'profilerVersion', 'driver'])
    if (!isTextOrNull(facts[name])) return `"${name}" must be text or null`;
  if (typeof facts.profiler !== 'string') return '"profiler" must be text';
  if (!isNumber(facts.gpus)) return '"gpus" must be a number';
  if (!['nodes', 'blocks', 'none'].includes(facts.graphs as string))
    return '"graphs" must be nodes, blocks or none';
  const { model, phases } = facts;
  if (model !== null && !(isObject(model) && isNumber(model.layers) && isNumber(model.kernelsPerLayer)))
    return '"model" must have layers and kernelsPerLayer, or be null';
  const { load } = facts;
  if (
    load !== undefined &&
    !(isObject(load) && Object.values(load).every(value => isNumber(value) || isTextOrNull(value)))
  )
    return '"load" must hold texts and numbers';
  if (!isObject(phases)) return '"phases" is missing';
  for (const [name, phase] of Object.entries(phases)) {
    const isSound = isObject(phase) && isNumber(phase.steps) && isNumber(phase.timeShare);
    if (!isPhase(name) || !isSound) return `phase ${JSON.stringify(name)} is not valid`;
    for (const part of ['batch', 'contextTokens'])
      if (phase[part] !== null && !isNumber(phase[part]))
        return `"${part}" of ${name} must be a number or null`;
  }
  return undefined;
}

function figuresProblem(figures: Fields): string | undefined {
  for (const [scope, own] of Object.entries(figures)) {
    if ((scope !== 'run' && !isPhase(scope)) || !isObject(own)) return `figures of ${JSON.stringify(scope)}`;
    for (const [metric, figure] of Object.entries(own)) {
      // A metric of a later version is no damage: no limit of this version asks for it.
      if (!metricById(metric)) continue;
      const isSound =
        isObject(figure) && isNumber(figure.value) && (figure.error === undefined || isNumber(figure.error));
      if (!isSound) return `${scope} ${metric} must have a number as value`;
    }
  }
  return undefined;
}

function stepsProblem(steps: Fields): string | undefined {
  for (const [phase, list] of Object.entries(steps))
    if (!isPhase(phase) || !Array.isArray(list) || !list.every(isNumber))
      return `steps of ${JSON.stringify(phase)} must be a list of numbers`;
  return undefined;
}
