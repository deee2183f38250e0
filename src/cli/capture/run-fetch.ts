/** `capture --fetch`: what an earlier run in a pod or over ssh left there. */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions } from '../../capture/capture-plan.js';
import { fetchRemote } from '../../capture/run/run-remote.js';
import type { Output } from '../output.js';
import { captureLines } from './capture-lines.js';
import type { CaptureValues } from './capture-question.js';
import { judgeAndShow, transportOf, windowOf } from './run-capture.js';

export async function runFetch(
  values: CaptureValues,
  asked: CaptureOptions,
  output: Output,
): Promise<number> {
  const far = transportOf(values);
  if (!far) throw new UserError('usage', '--fetch needs a source machine.', 'Add --pod NAME or --ssh HOST.');
  const local = path.resolve((asked.output ?? 'trace').replace(/\.nsys-rep$/, ''));
  if (values.dryRun) {
    output.out(`would copy the reports of ${values.fetch} from ${far.name} to ${local}.nsys-rep\n`);
    return 0;
  }
  const lines = captureLines(output, undefined);
  const files = await fetchRemote(far, values.fetch ?? '', {
    output: `${local}.nsys-rep`,
    force: asked.force,
    onNotice: lines.onNotice,
    copy: { onProgress: done => output.progress('copying', done) },
  });
  output.clearProgress();
  if (files.length === 0)
    throw new UserError(
      'not-found',
      `${values.fetch} on that machine contains no report.`,
      'Check the folder name that the run printed.',
    );
  for (const { path: file } of files) output.err(`wrote ${file}\n`);
  return judgeAndShow(
    files.map(({ path: file }) => file),
    { command: [], nsysAt: -1, env: {}, window: windowOf(asked), windows: asked.iterations },
    output,
  );
}
