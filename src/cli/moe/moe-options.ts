/** The options the parts of `stepscope moe` share, and how their numbers are read. */
import { UserError } from '../../base/user-error.js';
import type { LoadOptions } from '../../import/expert-load/load-importer.js';
import type { LoadPhase } from '../../model/expert-load.js';
import type { ExpertTime } from '../../moe/cost/expert-time.js';
import { readExpertTime } from '../../moe/cost/expert-time.js';
import type { OptionHelp } from '../command.js';

export const machineOptions = {
  as: { type: 'string' },
  experts: { type: 'string' },
  gpus: { type: 'string' },
  nodes: { type: 'string' },
  replicas: { type: 'string' },
  groups: { type: 'string' },
  'prefill-from': { type: 'string' },
  phase: { type: 'string' },
  'expert-time': { type: 'string' },
  'expert-share': { type: 'string' },
} as const;

export const machineHelp: readonly OptionHelp[] = [
  { flags: '--gpus N', meaning: 'GPUs the experts are spread over (default: the ranks, else 8)' },
  { flags: '--nodes N', meaning: 'machines they are in (default 1)' },
  { flags: '--replicas N', meaning: 'places beside the experts (default: one per GPU)' },
  { flags: '--groups N', meaning: 'groups of experts a token is limited to (DeepSeek-V3: 8)' },
  {
    flags: '--expert-time F+P',
    meaning: 'floor and time per token and expert of a layer on a GPU, e.g. 45us+12ns',
  },
  {
    flags: '--expert-share S',
    meaning: 'what part of a step experts take, 0 to 1, where no profile says it',
  },
  {
    flags: '--prefill-from N',
    meaning: 'iterations with at least N tokens count as prefill, others as decode',
  },
  { flags: '--phase PHASE', meaning: 'only iterations of prefill, decode or mixed' },
  { flags: '--as counts|ids', meaning: 'what the numbers of a plain array are, where they do not show it' },
  { flags: '--experts N', meaning: 'experts of the model, where a file holds only chosen ids' },
];

interface Values {
  readonly as?: string;
  readonly experts?: string;
  readonly gpus?: string;
  readonly nodes?: string;
  readonly replicas?: string;
  readonly groups?: string;
  readonly 'prefill-from'?: string;
  readonly phase?: string;
  readonly 'expert-time'?: string;
  readonly 'expert-share'?: string;
}

export interface MachineSettings {
  readonly load: LoadOptions;
  readonly gpus?: number;
  readonly nodes?: number;
  readonly replicas?: number;
  readonly groups?: number;
  readonly prefillFrom?: number;
  readonly phase?: LoadPhase;
  readonly time?: ExpertTime;
  readonly expertShare?: number;
}

export function readMachine(values: Values): MachineSettings {
  const { as } = values;
  if (as !== undefined && as !== 'counts' && as !== 'ids')
    throw new UserError(
      'usage',
      `${JSON.stringify(as)} is neither counts nor ids.`,
      'Use --as counts or --as ids',
    );
  const experts = count('--experts', values.experts);
  const time = values['expert-time'];
  return {
    load: { ...(as ? { as } : {}), ...(experts === undefined ? {} : { experts }) },
    ...defined('gpus', count('--gpus', values.gpus)),
    ...defined('nodes', count('--nodes', values.nodes)),
    ...defined('replicas', count('--replicas', values.replicas, 0)),
    ...defined('groups', count('--groups', values.groups)),
    ...defined('prefillFrom', count('--prefill-from', values['prefill-from'])),
    ...defined('phase', phaseOf(values.phase)),
    ...defined('time', time === undefined ? undefined : readExpertTime(time)),
    ...defined('expertShare', share('--expert-share', values['expert-share'])),
  };
}

const defined = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [N in Name]?: Value };

function phaseOf(text: string | undefined): LoadPhase | undefined {
  if (text === undefined || text === 'prefill' || text === 'decode' || text === 'mixed') return text;
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is not a phase.`,
    'Use one of: prefill, decode, mixed',
  );
}

export function count(option: string, text: string | undefined, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^\d{1,7}$/.test(text) && value >= least) return value;
  throw new UserError('usage', `${JSON.stringify(text)} is no count.`, `For example: ${option} 8`);
}

function share(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text);
  if (value > 0 && value <= 1) return value;
  throw new UserError('usage', `${JSON.stringify(text)} is no share.`, `For example: ${option} 0.4`);
}
