/** From the options of `fleet map` to what maps the files. */
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../base/user-error.js';
import { shellWords } from '../capture/shell-words.js';
import type { KubernetesOptions } from '../fleet/k8s-job.js';
import { type MapEngine, type MapRequest, taskOf } from '../fleet/map-files.js';
import { defaultPool, mapLocally } from '../fleet/map-local.js';
import { mapWithSlurm } from '../fleet/map-slurm.js';
import { filesOnList, sourceFiles } from '../fleet/source-files.js';
import type { Values } from './options.js';
import type { Output } from './output.js';
import { version } from './version.js';

type RequestValues = Values<'lake' | 'fileList' | 'runName' | 'label'>;
type EngineValues = Values<
  'engine' | 'workers' | 'memory' | 'chunk' | 'retries' | 'submitOption' | 'taskCommand'
>;

const EXAMPLE = 'For example: stepscope fleet map nightly/ --out lake';

export async function mapRequest(values: RequestValues, given: readonly string[]): Promise<MapRequest> {
  const { lake, runName } = values;
  if (lake === undefined) throw new UserError('usage', 'No lake was given.', EXAMPLE);
  const named = [...given, ...values.fileList.flatMap(filesOnList)];
  if (named.length === 0) throw new UserError('usage', 'No profile was given.', EXAMPLE);
  return {
    ...(await sourceFiles(named)),
    lake: path.resolve(lake),
    ...(runName === undefined ? {} : { run: runName }),
    labels: Object.fromEntries(values.label),
    tool: `stepscope ${version()}`,
  };
}

export const localEngine =
  ({ workers, memory }: Pick<EngineValues, 'workers' | 'memory'>): MapEngine =>
  (files, request, onDone) => {
    const pool = defaultPool();
    const chosen = { workers: workers ?? pool.workers, memoryBytes: memory ?? pool.memoryBytes };
    return mapLocally(files, taskOf(request), chosen, onDone);
  };

export function kubernetesOptions(
  values: Values<'image' | 'claim' | 'chunk' | 'retries' | 'workers' | 'memory' | 'taskCommand'>,
): KubernetesOptions {
  const { image, claim } = values;
  if (image === undefined || claim === undefined)
    throw new UserError(
      'usage',
      `--engine k8s needs ${image === undefined ? '--image' : '--claim'}.`,
      'For example: --image registry/stepscope:0.1 --claim profiles:/mnt/profiles',
    );
  return {
    ...{ image, claim, retries: values.retries, workers: values.workers ?? 1 },
    ...(values.chunk === undefined ? {} : { chunkBytes: values.chunk }),
    ...(values.memory === undefined ? {} : { memoryBytes: values.memory }),
    command: values.taskCommand === undefined ? ['stepscope'] : shellWords(values.taskCommand),
  };
}

/** `finish` is called when all is over. */
export function engineFor(values: EngineValues, output: Output): { engine: MapEngine; finish: () => void } {
  if (values.engine === 'local') return { engine: localEngine(values), finish: () => undefined };
  const abort = new AbortController();
  const stop = () => abort.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, stop);
  const engine = mapWithSlurm({
    command: values.taskCommand === undefined ? thisInstallation() : shellWords(values.taskCommand),
    workers: values.workers ?? 1,
    ...(values.chunk === undefined ? {} : { chunkBytes: values.chunk }),
    retries: values.retries,
    submitOptions: values.submitOption,
    signal: abort.signal,
    say: line => output.err(`${line}\n`),
    onState: text => output.status?.(text),
  });
  return {
    engine,
    finish: () => {
      for (const signal of signals) process.removeListener(signal, stop);
    },
  };
}

/** The same Node and the same files, which the other machines see under the same path. */
const thisInstallation = (): string[] => [
  process.execPath,
  fileURLToPath(new URL('../../../bin/stepscope', import.meta.url)),
];
