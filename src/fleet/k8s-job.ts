/**
 * A map as an Indexed Job of Kubernetes: the manifest, and how to apply it. As with Slurm, pods share nothing but the
 * folder of the lake: lists of files lie in it, and results come back through it.
 * https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { stringify } from 'yaml';
import type { Block } from '../analyze/block.js';
import type { Static } from '../base/document.js';
import { plural } from '../base/units.js';
import { UserError } from '../base/user-error.js';
import { shellCommand, shellQuote } from '../capture/shell-quote.js';
import type { fleetJobSchema } from './fleet-schema.js';
import { Lake } from './lake.js';
import { type MapRequest, unchangedIn } from './map-files.js';
import { chunksOf, prepareJob, taskWords } from './map-job.js';

export interface KubernetesOptions {
  readonly image: string;
  /** The claim, and where it is mounted: there as here. */
  readonly claim: { readonly name: string; readonly mount: string };
  /** How the image calls stepscope. */
  readonly command: readonly string[];
  readonly workers: number;
  readonly chunkBytes?: number;
  readonly memoryBytes?: number;
  readonly retries: number;
}

type KubernetesJob = Static<typeof fleetJobSchema>;

/** Stands for the number of a pod; in no name of a file. */
const INDEX = '\0index\0';
const MOST_PODS_AT_ONCE = 64;
const DEFAULT_MEMORY_BYTES = 8e9;

export function kubernetesJob(request: MapRequest, options: KubernetesOptions): KubernetesJob {
  const { claim } = options;
  requireBelow(claim.mount, [request.lake, ...request.files.map(file => file.path)]);
  const claimOf = unchangedIn(Lake.create(request.lake));
  const fresh = request.files.filter(file => !claimOf(file));
  if (fresh.length === 0)
    throw new UserError(
      'usage',
      `All ${plural(request.files.length, 'file')} are already in the lake.`,
      `For a report: stepscope fleet report ${shellQuote(request.lake)}`,
    );
  const { folder, chunks } = prepareJob(request.lake, chunksOf(fresh, options.chunkBytes));
  const name = `stepscope-fleet-map-${path.basename(folder)}`;
  const manifest = path.join(folder, 'job.yaml');
  fs.writeFileSync(
    manifest,
    stringify(manifestOf(name, request, folder, chunks.length, options), { lineWidth: 0 }),
  );
  return {
    schema: 'stepscope-fleet-job/1',
    ...{ tool: request.tool, lake: request.lake, files: fresh.length },
    ...{ already: request.files.length - fresh.length, tasks: chunks.length, job: name, manifest },
    commands: [
      shellCommand(['kubectl', 'apply', '-f', manifest]),
      `kubectl wait --for=condition=complete job/${name} --timeout=24h`,
      `kubectl logs --selector=job-name=${name} --prefix --tail=20`,
      shellCommand(['stepscope', 'fleet', 'report', request.lake]),
    ],
  };
}

function manifestOf(
  name: string,
  request: MapRequest,
  folder: string,
  tasks: number,
  { image, claim, command, workers, memoryBytes = DEFAULT_MEMORY_BYTES, retries }: KubernetesOptions,
): object {
  const words = taskWords(request, folder, INDEX, workers).map(word =>
    word.split(INDEX).map(shellQuote).join('"$JOB_COMPLETION_INDEX"'),
  );
  const line = [...command.map(shellQuote), ...words].join(' ');
  const memory = `${Math.ceil(memoryBytes / 2 ** 20)}Mi`;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'stepscope' } },
    spec: {
      completionMode: 'Indexed',
      completions: tasks,
      parallelism: Math.min(tasks, MOST_PODS_AT_ONCE),
      // Of all pods together. Per index only newer clusters count.
      backoffLimit: retries * tasks,
      template: {
        metadata: { labels: { 'app.kubernetes.io/name': 'stepscope' } },
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'map',
              image,
              command: ['/bin/sh', '-c', `exec ${line}`],
              resources: { requests: { cpu: String(workers), memory }, limits: { memory } },
              volumeMounts: [{ name: 'profiles', mountPath: claim.mount }],
            },
          ],
          volumes: [{ name: 'profiles', persistentVolumeClaim: { claimName: claim.name } }],
        },
      },
    },
  };
}

function requireBelow(mount: string, names: readonly string[]): void {
  const outside = names.find(name => path.relative(mount, name).startsWith('..'));
  if (outside === undefined) return;
  throw new UserError(
    'usage',
    `${outside} is not below ${mount}, where the claim is mounted: pods would not see it.`,
    'Mount the volume here under the same path, and give files and --out below it.',
  );
}

export const describeJob = (job: KubernetesJob): Block[] => [
  {
    kind: 'statement',
    id: 'job',
    title: 'Job',
    lines: [
      `${job.manifest} maps ${plural(job.files, 'file')} in ${plural(job.tasks, 'pod')}.`,
      'Nothing has been started. A pod that fails is started again, and content that the lake has is not mapped twice.',
    ],
  },
  {
    kind: 'facts',
    id: 'commands',
    title: 'Run',
    facts: job.commands.map((text, i) => ({ label: String(i + 1), text })),
  },
];
