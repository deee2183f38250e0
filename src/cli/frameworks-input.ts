/** Opens what a comparison names: profiles and benchmark results, by paths relative to the file that names them. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { Analyzer } from '../analyze/analysis.js';
import { UserError } from '../base/user-error.js';
import { MOST_YAML_BYTES } from '../base/yaml-text.js';
import { findModel } from '../catalog/models.js';
import { chooseRuns } from '../compare/frameworks/common-load.js';
import type { Framework } from '../compare/frameworks/framework.js';
import { measureFramework } from '../compare/frameworks/measure-framework.js';
import {
  type ConfiguredFramework,
  type ConfiguredPath,
  type FrameworksConfig,
  readFrameworksConfig,
} from '../compare/frameworks/read-config.js';
import { openBenchRuns } from '../import/bench/open-bench.js';
import type { BenchRun } from '../model/bench-run.js';
import { profileSources } from '../run/collect.js';
import { phaseSources } from '../run/phase-figures.js';
import * as kinds from './option-kinds.js';
import type { Output } from './output.js';
import { profileFor } from './profile-of.js';
import { readBounded } from './read-bounded.js';

const HINT = 'CONFIG is a small YAML file; stepscope frameworks --init prints a template.';

export const openConfig = (file: string): FrameworksConfig =>
  readFrameworksConfig(path.basename(file), readBounded(file, MOST_YAML_BYTES, HINT));

/** Benchmarks first, as they decide which load is compared; then one profile at a time, since each may be large. */
export async function measureAll(
  file: string,
  config: FrameworksConfig,
  output: Output,
): Promise<Framework[]> {
  const folder = path.dirname(file);
  // Reading takes a while: what is not there is told first, and where it is asked for.
  for (const { profiles, benchmarks } of config.frameworks)
    for (const given of [...profiles, ...benchmarks]) requireThere(folder, given);
  const runs: BenchRun[][] = [];
  for (const { benchmarks } of config.frameworks) {
    const own: BenchRun[] = [];
    for (const given of benchmarks)
      own.push(...(await naming(given, () => openBenchRuns([path.resolve(folder, given.path)]))));
    runs.push(own);
  }
  const chosen = chooseRuns(runs);
  const measured: Framework[] = [];
  for (const [i, framework] of config.frameworks.entries()) {
    const { name, notes, gpus, model } = framework;
    const analyzer = await openAnalyzer(folder, framework, output);
    measured.push(measureFramework({ name, notes, gpus, model, analyzer, runs: runs[i] }, chosen[i]));
  }
  return measured;
}

async function openAnalyzer(
  folder: string,
  { name, profiles, iterations: chosen, phase, marker, model }: ConfiguredFramework,
  output: Output,
): Promise<Analyzer | undefined> {
  if (profiles.length === 0) return undefined;
  const config = await naming(profiles[0], async () => {
    if (model === undefined) return undefined;
    return kinds.model.read(findModel(model) ? model : path.resolve(folder, model), 'model:');
  });
  const iterations = chosen === undefined ? undefined : kinds.spans.read(chosen, 'iterations:');
  const files = profiles.map(given => path.resolve(folder, given.path));
  const profile = await naming(profiles[0], () =>
    profileFor(files, [...profileSources, ...phaseSources], output, `${name}: `),
  );
  return new Analyzer(profile, { iterations, phase, marker, model: config });
}

function requireThere(folder: string, { path: given, where }: ConfiguredPath): void {
  if (fs.existsSync(path.resolve(folder, given))) return;
  throw new UserError(
    'not-found',
    `${where}: ${given} does not exist.`,
    `Paths are relative to the folder of CONFIG (${path.resolve(folder)}).`,
  );
}

/** A file that cannot be read is told with the line that names it. */
async function naming<Result>({ where }: ConfiguredPath, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `${where}: ${error.message}`, error.hint);
  }
}
