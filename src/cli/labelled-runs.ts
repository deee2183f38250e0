/** Runs in order, each with a label: baselines that were saved, and files by their names. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { withoutEndings } from '../catalog/file-formats.js';
import type { LabelledRun } from '../gate/trend.js';
import { cleanText } from '../run/collect-facts.js';
import { readBaselines } from './baselines-file.js';
import { type MeasureValues, measuredRun } from './measured-run.js';
import type { Output } from './output.js';

/** A baseline of several runs is several points: they show how far a figure moves by itself. */
export function runsOfBaselines(file: string): LabelledRun[] {
  return readBaselines(file).baselines.flatMap(({ name, runs }) =>
    runs.map((run, i) => ({ label: runs.length > 1 ? `${name}#${i + 1}` : name, run })),
  );
}

export async function runsOfFiles(
  given: readonly string[],
  values: MeasureValues,
  output: Output,
): Promise<LabelledRun[]> {
  const named = given.map(argument => {
    const at = argument.indexOf('=');
    // A path may have that character too.
    const isLabelled = at > 0 && !fs.existsSync(argument);
    return {
      file: isLabelled ? argument.slice(at + 1) : argument,
      label: isLabelled ? argument.slice(0, at) : undefined,
    };
  });
  const stem = (file: string) => withoutEndings(path.basename(file));
  const stems = named.map(({ file }) => stem(file));
  const runs: LabelledRun[] = [];
  for (const [i, { file, label }] of named.entries()) {
    const run = await measuredRun([file], values, output);
    // Runs kept in folders of their own often share a name: the folder tells them apart.
    const isAlone = stems.indexOf(stems[i]) === stems.lastIndexOf(stems[i]);
    const folder = path.basename(path.dirname(path.resolve(file)));
    runs.push({ label: cleanText(label ?? (isAlone ? stems[i] : `${folder}/${stems[i]}`)), run });
  }
  return runs;
}
