/** `stepscope moe FILE…`: the page, its JSON, CSV, Markdown and HTML. */
import type { Block } from '../../analyze/block.js';
import { UserError } from '../../base/user-error.js';
import { answerFromLoads, answerFromLog, answerFromProfile, type MoeAnswer } from '../../moe/answer.js';
import { describeMoe } from '../../moe/describe/describe-moe.js';
import { moeCsv, moeDocument } from '../../moe/describe/moe-document.js';
import { Cutter, levels } from '../../report/html/limits.js';
import { pageOf } from '../../report/html/page.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import type { Output } from '../command.js';
import { pageAssets } from '../page-assets.js';
import { writeResult } from '../write-result.js';
import type { MachineSettings } from './moe-options.js';
import { readMoeFiles } from './read-moe.js';

interface PageOptions {
  readonly format: 'table' | 'json' | 'csv' | 'markdown';
  readonly html?: string;
  readonly force: boolean;
  readonly all: boolean;
}

export async function moePage(
  files: readonly string[],
  settings: MachineSettings,
  options: PageOptions,
  output: Output,
): Promise<number> {
  const read = await readMoeFiles(files, settings, output);
  const question = {
    ...settings,
    ...(read.profile ? { profile: read.profile } : {}),
    onProgress: (done: number) => output.progress('placing experts', done),
  };
  const answer = read.summary
    ? answerFromLoads(read.summary, question)
    : read.log
      ? answerFromLog(read.log, question)
      : answerFromProfile(read.profile ?? [], question);
  output.clearProgress();
  if (!answer) throw oneDevice(files[0]);
  if (options.html !== undefined) writeResult(options.html, htmlOf(answer), options.force, output);
  if (options.format === 'json') output.out(`${JSON.stringify(moeDocument(files, answer), null, 1)}\n`);
  else if (options.format === 'csv') output.out(moeCsv(answer));
  else if (options.format === 'markdown')
    output.out(markdown.render(describeMoe(answer, options.all), output));
  else if (options.html === undefined) output.out(text.render(describeMoe(answer, options.all), output));
  return 0;
}

function htmlOf(answer: MoeAnswer): string {
  const blocks = describeMoe(answer, true);
  const statement = (id: string) =>
    blocks.find(
      (block): block is Block & { kind: 'statement' } => block.kind === 'statement' && block.id === id,
    );
  const section = (id: string, title: string, ids: readonly string[]) => ({
    id,
    title,
    pieces: blocks.filter(block => ids.includes(block.id)).map(block => ({ kind: 'block' as const, block })),
  });
  const sections = [
    section('fix', 'What would fix it', ['moe-placements']),
    section('heat', 'Heat maps', ['moe-heat-experts', 'moe-heat-time']),
    section('layers', 'Layers', ['moe-phases', 'moe-layers']),
    section('gpus', 'GPUs', ['moe-gpus', 'moe-ranks']),
    section('notes', 'Notes', ['moe-notes']),
  ].filter(({ pieces }) => pieces.length > 0);
  return pageOf(
    { header: statement('moe-what'), answer: statement('moe-answer'), sections },
    new Cutter(levels[0]),
    pageAssets(),
  );
}

const oneDevice = (file: string) =>
  new UserError(
    'not-recorded',
    `${file} is of one GPU, which says nothing about the balance between GPUs.`,
    'Give counts per expert with it (docs/moe.md), or the profiles of all ranks.',
  );
