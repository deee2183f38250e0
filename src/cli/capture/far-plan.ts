/** What is asked for on another machine: where, and with the paths it has there. */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions, CapturePlan } from '../../capture/capture-plan.js';
import { podsWith } from '../../capture/run/pods.js';
import type { CaptureValues } from './capture-question.js';

/** The folder that a run makes there; its name is decided by mktemp. */
const FOLDER_THERE = '/tmp/stepscope-XXXXXXXX';

const nameOf = ({ output }: CaptureOptions): string => (output ?? 'trace').replace(/\.nsys-rep$/, '');

/** For a plan that is only shown: the run asks the machine and plans again. */
export const askedThere = (asked: CaptureOptions): CaptureOptions => ({
  ...asked,
  nsys: undefined,
  output: `${FOLDER_THERE}/out/${path.basename(nameOf(asked))}`,
  ...(asked.agent === undefined ? {} : { agent: `${FOLDER_THERE}/agent` }),
});

export const shownThere = (plan: CapturePlan, values: CaptureValues, asked: CaptureOptions): CapturePlan => ({
  ...plan,
  far: { where: whereOf(values), copiedTo: nameOf(asked), nsys: nsysFor(values) },
});

/** The machine's own goes first, whatever was brought along. */
function nsysFor({ nsysDeb, nsysTree }: CaptureValues): string {
  if (nsysTree !== undefined) return `that of the machine, otherwise a copy of ${nsysTree}`;
  return nsysDeb === undefined
    ? 'that of the machine'
    : `that of the machine, otherwise ${nsysDeb} is installed there (needs root)`;
}

function whereOf({ pod, ssh, selector, namespace, container }: CaptureValues): string {
  if (ssh !== undefined) return `ssh ${ssh}`;
  const inside = [
    ...(namespace === undefined ? [] : [`namespace ${namespace}`]),
    ...(container === undefined ? [] : [`container ${container}`]),
  ];
  const pods = pod === undefined ? `every running pod with the labels ${selector}` : `pod ${pod}`;
  return inside.length > 0 ? `${pods} (${inside.join(', ')})` : pods;
}

/** Before the cluster is asked, only the order of things is known. */
export const restartText = (values: CaptureValues): string =>
  [
    `The server in ${whereOf(values)} is restarted under the profiler:`,
    '  1. read its deployment or stateful set, its command, and whether your account may patch it',
    '  2. patch the command: the same server behind nsys, with the variables of the plan',
    '  3. wait for a pod that runs it, send requests, copy the report back',
    '  4. patch the command back, whatever happened',
    'With several replicas, all of them are restarted twice.',
    '',
  ].join('\n');

/** One capture after the other, each under the name of its pod. The worst status is the status of all. */
export async function inEveryPod(
  values: CaptureValues,
  say: (text: string) => void,
  run: (values: CaptureValues) => Promise<number>,
): Promise<number> {
  const { selector, namespace, pod, ssh } = values;
  if (pod !== undefined || ssh !== undefined)
    throw new UserError(
      'usage',
      '--selector finds pods, and --pod or --ssh names one machine.',
      'Give one of them.',
    );
  const pods = await podsWith({ selector: selector!, ...(namespace === undefined ? {} : { namespace }) });
  say(
    `${pods.length === 1 ? '1 pod' : `${pods.length} pods`} with the labels ${selector}: ${pods.join(', ')}`,
  );
  const name = (values.trace ?? 'trace').replace(/\.nsys-rep$/, '');
  let worst = 0;
  for (const one of pods) {
    const trace = pods.length === 1 ? name : `${name}-${one}`;
    worst = Math.max(worst, await run({ ...values, selector: undefined, pod: one, trace }));
  }
  return worst;
}
