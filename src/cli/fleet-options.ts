/** Options of `fleet map`, `fleet report` and `fleet watch`. */
import { fleetEngines } from '../fleet/engines.js';
import { notThat, repeated, toggle, type ValueKind, value, withDefault } from './option.js';
import { duration, oneOf, sizeIn, anyText as text, whole } from './option-kinds.js';

/** `model=Llama-3.1-70B` */
const label: ValueKind<readonly [name: string, value: string]> = {
  read(given, flag) {
    const match = /^([A-Za-z][\w.-]{0,40})=(.{1,200})$/.exec(given);
    if (match) return [match[1], match[2]];
    throw notThat(given, 'label', `For example: ${flag} model=Llama-3.1-70B`);
  },
};

/** `NAME:/mounted/at` */
const claim: ValueKind<{ readonly name: string; readonly mount: string }> = {
  read(given, flag) {
    const match = /^([a-z0-9](?:[a-z0-9.-]{0,250}[a-z0-9])?):(\/\S*)$/.exec(given);
    if (match) return { name: match[1], mount: match[2] };
    throw notThat(given, 'volume claim with its path', `For example: ${flag} profiles:/mnt/profiles`);
  },
};

export const optionsOfFleet = {
  lake: value('--out LAKE', text, 'folder of the lake; created if it does not exist'),
  engine: withDefault(
    value('--engine ENGINE', oneOf(fleetEngines), 'where to map: on this machine, or as one job'),
    'local',
  ),
  fileList: repeated('--list FILE', text, 'read the names of files from FILE, one per line; repeatable'),
  runName: value('--run NAME', text, 'the run of all given files (default: from folder and file name)'),
  label: repeated(
    '--label NAME=VALUE',
    label,
    'note about the run, such as model=… or config=…, to group by; repeatable',
  ),
  workers: value('--workers N', whole(1, 1024), 'files to map at the same time (default: one per core)'),
  memory: value(
    '--memory GB',
    sizeIn('GB', 1e5),
    'start another file only while the estimated need stays below (default: half of the free memory)',
  ),
  chunk: value(
    '--chunk GB',
    sizeIn('GB', 1e5),
    'bytes of profiles per task of a job (default: 4 GB, or less for 8 tasks)',
  ),
  retries: withDefault(value('--retries N', whole(0, 20), 'submit failed tasks again, up to N times'), 2),
  submitOption: repeated(
    '--sbatch-option OPTION',
    text,
    'passed on to sbatch, for example --sbatch-option=--partition=cpu; repeatable',
  ),
  taskCommand: value(
    '--command TEXT',
    text,
    'how tasks of a job call stepscope (default: this installation, under the same path)',
  ),
  image: value('--image IMAGE', text, 'container image that has stepscope, for --engine k8s'),
  claim: value(
    '--claim NAME:/PATH',
    claim,
    'persistent volume claim that holds files and lake, mounted at the same path as here, for --engine k8s',
  ),
  every: withDefault(value('--every TIME', duration, 'how often to look for new files'), 30e9, '30s'),
  once: toggle('--once', 'map what is there and end; for cron'),
} as const;
