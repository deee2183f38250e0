import { describeMap } from '../../fleet/describe-map.js';
import { describeJob, kubernetesJob } from '../../fleet/k8s-job.js';
import { mapDocument, mapFiles } from '../../fleet/map-files.js';
import { define } from '../command.js';
import { engineFor, kubernetesOptions, mapRequest } from '../fleet-engine.js';

export const fleetMap = define({
  usage: ['FILES… --out LAKE [options]', 'FILES… --out LAKE --engine slurm|k8s [options]'],
  options: [
    ...(['lake', 'engine', 'fileList', 'runName', 'label', 'workers', 'memory', 'chunk'] as const),
    ...(['retries', 'submitOption', 'taskCommand', 'image', 'claim'] as const),
  ],
  formats: ['table', 'json'],
  notes: [
    ['FILES', 'profiles of any number of runs, or folders to search; each file is one rank or one run'],
    ['again', 'content that the lake already has is skipped, so the same command resumes and repairs'],
    ['exit code', '0 if every file is in the lake or recorded as broken'],
  ],
  examples: [
    ['stepscope fleet map nightly/ --out lake', 'every profile below a folder, one per core at a time'],
    [
      'stepscope fleet map nightly/ --out /shared/lake --engine slurm --sbatch-option=--partition=cpu',
      'one array job; needs only a shared folder',
    ],
    [
      'stepscope fleet map /mnt/p/nightly --out /mnt/p/lake --engine k8s --image IMAGE --claim profiles:/mnt/p',
      'a manifest for Kubernetes, and how to apply it',
    ],
    ['stepscope fleet map --list chunk-7.txt --out lake', 'the map step as other schedulers call it'],
  ],
  async run({ values, given, output, emit }) {
    const request = await mapRequest(values, given);
    if (values.engine === 'k8s') {
      const job = kubernetesJob(request, kubernetesOptions(values));
      await emit({ blocks: () => describeJob(job), document: () => job });
      return 0;
    }
    const { engine, finish } = engineFor(values, output);
    try {
      const result = await mapFiles(request, engine, (_, done) =>
        output.progress('mapping', done / request.files.length),
      );
      output.clearProgress();
      await emit({ blocks: () => describeMap(result), document: () => mapDocument(result, values.engine) });
    } finally {
      finish();
    }
    return 0;
  },
});
