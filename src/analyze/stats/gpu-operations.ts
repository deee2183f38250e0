/** Names of GPU work as the reports print them. */
import { NONE } from '../../base/column.js';
import { copyKindLabels, memoryKindLabels } from '../../catalog/cuda-enums.js';
import type { Profile, Row } from '../../model/profile.js';
import { launchContext } from './range-tree.js';
import type { ReportOptions } from './report.js';

export const copyName = (kind: number) => `[CUDA memcpy ${copyKindLabels[kind] ?? 'Unknown'}]`;
export const MEMSET_NAME = '[CUDA memset]';
export const memoryKindName = (kind: number | undefined): string | null =>
  kind === undefined || kind === NONE ? null : (memoryKindLabels[kind] ?? null);

/** API names carry the version of the ABI (`cudaMalloc_v3020`); reports drop four-digit ones. */
export const apiName = (name: string): string => (name.slice(-6, -4) === '_v' ? name.slice(0, -6) : name);

/** API rows by printed name: ABI versions of one function get one number (the string id of the first seen). */
export function apiNameKeys(profile: Profile): Int32Array {
  const ids = profile.tables.apiCalls!.name;
  const byText = new Map<string, number>();
  const known = new Map<number, number>();
  return Int32Array.from(ids, id => {
    let key = known.get(id);
    if (key === undefined) {
      const name = apiName(profile.strings.text(id));
      key = byText.get(name) ?? id;
      byText.set(name, key);
      known.set(id, key);
    }
    return key;
  });
}

interface KernelNames {
  /** Per kernel row a number; equal numbers mean equal printed names. */
  readonly keys: ArrayLike<number>;
  readonly text: (key: number) => string;
}

export function kernelNames(profile: Profile, options: ReportOptions): KernelNames {
  const kernels = profile.tables.kernels!;
  const full = kernels.name;
  const chosen =
    options.kernelName === 'base'
      ? kernels.shortName
      : options.kernelName === 'mangled'
        ? kernels.mangledName
        : undefined;
  const ids = chosen
    ? Int32Array.from(chosen, (id, row) => (id === NONE ? full[row as Row<'kernels'>] : id))
    : (full as ArrayLike<number>);
  if (!options.nvtxName) return { keys: ids, text: key => profile.strings.text(key) };

  const innermost = launchContext(profile).innermostRangeOfCall();
  const ranges = profile.tables.ranges;
  const names: string[] = [];
  const numbers = new Map<string, number>();
  const keys = Int32Array.from(ids, (id, row) => {
    const call = kernels.launch[row as Row<'kernels'>];
    const range = call === NONE ? NONE : innermost[call];
    const kernel = profile.strings.text(id);
    const named =
      range === NONE || !ranges || ranges.name[range] === NONE
        ? kernel
        : `${profile.strings.text(ranges.name[range])}/${kernel}`;
    let number = numbers.get(named);
    if (number === undefined) {
      number = names.length;
      numbers.set(named, number);
      names.push(named);
    }
    return number;
  });
  return { keys, text: key => names[key] };
}
