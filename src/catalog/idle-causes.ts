/** Why a GPU stood still, with one label and one colour everywhere. Order is the order of display. */
export const idleCauses = [
  {
    id: 'launch-bound',
    label: 'launch-bound',
    color: '#e6550d',
    about: 'the host issues CUDA API calls back to back',
  },
  {
    id: 'synchronisation',
    label: 'synchronization',
    color: '#756bb1',
    about: 'the host waits for the GPU, then wakes up',
  },
  {
    id: 'garbage-collection',
    label: 'Python garbage collection',
    color: '#c51b8a',
    about: 'garbage collection ranges, or waiting for a thread that collects',
  },
  {
    id: 'gil',
    label: 'waiting for the GIL',
    color: '#dd1c77',
    about: 'another Python thread held the interpreter lock',
  },
  {
    id: 'os-call',
    label: 'blocking OS call',
    color: '#636363',
    about: 'the launching thread is in a recorded operating-system call',
  },
  {
    id: 'allocation',
    label: 'memory allocation',
    color: '#8c6d31',
    about: 'allocating or freeing GPU or pinned memory',
  },
  { id: 'sampling', label: 'sampling', color: '#31a354', about: 'in a host range named for sampling' },
  { id: 'scheduling', label: 'scheduling', color: '#3182bd', about: 'in a host range named for scheduling' },
  {
    id: 'request-handling',
    label: 'request handling',
    color: '#6baed6',
    about: 'in a host range named for requests or responses',
  },
  {
    id: 'input-preparation',
    label: 'input preparation',
    color: '#74c476',
    about: 'in a host range named for preparing inputs',
  },
  {
    id: 'host-code',
    label: 'other host code',
    color: '#969696',
    about: 'the launching thread runs other code',
  },
  {
    id: 'device-wait',
    label: 'device-side wait',
    color: '#9ecae1',
    about: 'work was launched in time, then waited on the device',
  },
  {
    id: 'profiler-overhead',
    label: 'profiler overhead',
    color: '#bdbdbd',
    about: 'the profiler itself was running',
  },
  { id: 'unknown', label: 'unknown', color: '#d9d9d9', about: 'no launch is recorded for the next work' },
] as const;

export type IdleCause = (typeof idleCauses)[number]['id'];
export const causeIndex = (id: IdleCause): number => idleCauses.findIndex(cause => cause.id === id);
