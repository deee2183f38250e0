/** The GPUs of these rows, each once: several files may be about one (windows of a process, ranks that share it). */
import type { Gpu } from './profile.js';

export function distinctGpus(gpus: readonly Gpu[]): Gpu[] {
  return gpus.filter(
    ({ uuid }, row) => uuid === undefined || gpus.findIndex(other => other.uuid === uuid) === row,
  );
}
