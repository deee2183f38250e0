/** Why a GPU stood still, with one label and one colour everywhere. Order is the order of display. */
import { causeColors } from './palette.js';

export const idleCauses = [
  {
    id: 'launch-bound',
    label: 'launch-bound',
    color: causeColors['launch-bound'],
    about: 'the host issues CUDA API calls back to back',
  },
  {
    id: 'synchronisation',
    label: 'synchronization',
    color: causeColors.synchronisation,
    about: 'the host waits for the GPU, then wakes up',
  },
  {
    id: 'garbage-collection',
    label: 'Python garbage collection',
    color: causeColors['garbage-collection'],
    about: 'garbage collection ranges, or waiting for a thread that collects',
  },
  {
    id: 'gil',
    label: 'waiting for the GIL',
    color: causeColors.gil,
    about: 'another Python thread held the interpreter lock',
  },
  {
    id: 'os-call',
    label: 'blocking OS call',
    color: causeColors['os-call'],
    about: 'the launching thread is in a recorded operating-system call',
  },
  {
    id: 'allocation',
    label: 'memory allocation',
    color: causeColors.allocation,
    about: 'allocating or freeing GPU or pinned memory',
  },
  {
    id: 'sampling',
    label: 'sampling',
    color: causeColors.sampling,
    about: 'in a host range named for sampling',
  },
  {
    id: 'scheduling',
    label: 'scheduling',
    color: causeColors.scheduling,
    about: 'in a host range named for scheduling',
  },
  {
    id: 'request-handling',
    label: 'request handling',
    color: causeColors['request-handling'],
    about: 'in a host range named for requests or responses',
  },
  {
    id: 'input-preparation',
    label: 'input preparation',
    color: causeColors['input-preparation'],
    about: 'in a host range named for preparing inputs',
  },
  {
    id: 'host-code',
    label: 'other host code',
    color: causeColors['host-code'],
    about: 'the launching thread runs other code',
  },
  {
    id: 'device-wait',
    label: 'device-side wait',
    color: causeColors['device-wait'],
    about: 'work was launched in time, then waited on the device',
  },
  {
    id: 'profiler-overhead',
    label: 'profiler overhead',
    color: causeColors['profiler-overhead'],
    about: 'the profiler itself was running',
  },
  {
    id: 'unknown',
    label: 'unknown',
    color: causeColors.unknown,
    about: 'no launch is recorded for the next work',
  },
] as const;

export type IdleCause = (typeof idleCauses)[number]['id'];
export const causeIndex = (id: IdleCause): number => idleCauses.findIndex(cause => cause.id === id);
