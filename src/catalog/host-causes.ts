/** Idle causes that are work of the host between launches. */
import type { IdleCause } from './idle-causes.js';

export const HOST_CAUSES: readonly IdleCause[] = [
  'host-code',
  'sampling',
  'scheduling',
  'request-handling',
  'input-preparation',
  'os-call',
];
