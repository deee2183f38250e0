/** What `stepscope compare` was asked to compare: files, folders, or repeats of one configuration under a name. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { UserError } from '../base/user-error.js';
import { withoutEndings } from '../catalog/file-formats.js';
import { inputOnDisk } from '../import/standard-input.js';

export interface AskedConfiguration {
  readonly name: string;
  /** One path per run: a file, or a folder of ranks. */
  readonly runs: readonly string[];
}

export async function readConfigurations(given: readonly string[]): Promise<AskedConfiguration[]> {
  if (given.length < 2) {
    throw new UserError(
      'usage',
      given.length === 0 ? 'No profile was given.' : 'There is nothing to compare with.',
      'For example: stepscope compare before.sqlite after.sqlite',
    );
  }
  const asked = given.map(text => {
    const named = /^([^=/\\]+)=(.+)$/.exec(text);
    // A file may have such a name itself.
    if (!named || fs.existsSync(text)) return { name: undefined, runs: [text] };
    const runs = named[2].split(',').filter(part => part !== '');
    if (runs.length === 0) throw noFiles(text);
    return { name: named[1], runs };
  });
  const inputs = await Promise.all(asked.map(({ runs }) => Promise.all(runs.map(inputOnDisk))));
  const names = distinctNames(
    asked.map(({ name, runs }, i) => ({ name: name ?? inputs[i][0].name, file: runs[0] })),
  );
  return inputs.map((runs, i) => ({ name: names[i], runs: runs.map(input => input.path) }));
}

const noFiles = (text: string) =>
  new UserError(
    'usage',
    `${JSON.stringify(text)} does not name a file.`,
    'Write NAME=FILE,FILE for repeats of one configuration.',
  );

/** The file's own name; with as many folders before it as it takes to tell them apart. */
export function distinctNames(
  given: readonly { readonly name: string | undefined; readonly file: string }[],
): string[] {
  const parts = given.map(({ file }) =>
    withoutEndings(path.resolve(file))
      .split(path.sep)
      .filter(part => part !== ''),
  );
  const depth = given.map(() => 1);
  const nameOf = (i: number) => given[i].name ?? parts[i].slice(-depth[i]).join('/');
  for (let again = true; again; ) {
    again = false;
    const names = given.map((_, i) => nameOf(i));
    names.forEach((name, i) => {
      const isTaken = names.some((other, k) => other === name && parts[k].join('/') !== parts[i].join('/'));
      if (!isTaken || given[i].name !== undefined || depth[i] >= parts[i].length) return;
      depth[i]++;
      again = true;
    });
  }
  // The same file twice is still two runs.
  const seen = new Map<string, number>();
  return given.map((_, i) => {
    const name = nameOf(i);
    const times = (seen.get(name) ?? 0) + 1;
    seen.set(name, times);
    return times === 1 ? name : `${name} (${times})`;
  });
}
