import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import { describeMap } from '../../fleet/describe-map.js';
import { mapDocument, mapFiles, taskOf } from '../../fleet/map-files.js';
import { defaultPool, mapLocally } from '../../fleet/map-local.js';
import { filesOnList, sourceFiles } from '../../fleet/source-files.js';
import { define } from '../command.js';
import { version } from '../version.js';

export const fleetMap = define({
  usage: ['FILES… --out LAKE [--engine local|slurm|k8s] [options]'],
  options: [
    'lake',
    'engine',
    'fileList',
    'runName',
    'label',
    'workers',
    'memory',
    'chunk',
    'retries',
    'submitOption',
    'image',
    'claim',
  ],
  formats: ['table', 'json'],
  examples: [['stepscope fleet map nightly/ --out lake', 'every profile below a folder']],
  async run({ values, given, output, emit }) {
    const { lake } = values;
    if (lake === undefined)
      throw new UserError(
        'usage',
        'No lake was given.',
        'For example: stepscope fleet map nightly/ --out lake',
      );
    const named = [...given, ...values.fileList.flatMap(filesOnList)];
    if (named.length === 0)
      throw new UserError(
        'usage',
        'No profile was given.',
        'For example: stepscope fleet map nightly/ --out lake',
      );
    const pool = defaultPool();
    const request = {
      ...(await sourceFiles(named)),
      lake: path.resolve(lake),
      ...(values.runName === undefined ? {} : { run: values.runName }),
      labels: Object.fromEntries(values.label),
      tool: `stepscope ${version()}`,
    };
    const result = await mapFiles(
      request,
      (files, own, onDone) =>
        mapLocally(
          files,
          taskOf(own),
          { workers: values.workers ?? pool.workers, memoryBytes: values.memory ?? pool.memoryBytes },
          onDone,
        ),
      (_, done) => output.progress('mapping', done / request.files.length),
    );
    output.clearProgress();
    await emit({ blocks: () => describeMap(result), document: () => mapDocument(result, values.engine) });
    return 0;
  },
});
