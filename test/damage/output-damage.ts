/** What commands print about a damaged capture: no number that is none, whatever the file holds. */
import assert from 'node:assert/strict';
import { runStepscope } from '../run-stepscope.js';
import type { Random } from './mutations.js';
import { checkWords } from './output-words.js';

const SLOW_MS = 10_000;

const commands: readonly (readonly string[])[] = [
  ['analyze'],
  ['analyze', '--markdown'],
  ['analyze', '--only', 'step-budget', '--csv'],
  ['steps'],
  ['steps', '--sequence'],
  ['info'],
  ['stats'],
  ['compare'],
];

/** One command, at random; `intact` is what a damaged file is compared with. */
export async function checkOutput(file: string, intact: string, random: Random): Promise<void> {
  const [command, ...options] = commands[Math.floor(random() * commands.length)];
  const begun = performance.now();
  const files = command === 'compare' ? [intact, file] : [file];
  const { status, out, err } = await runStepscope([command, ...files, ...options]);
  assert.ok(performance.now() - begun < SLOW_MS, `${command} took too long`);
  if (status !== 0 && out === '') assert.equal(err.trimEnd().split('\n').length, 2, err);
  checkWords(out + err);
}
