/** What a box of the flame graph is painted for: the Python package of a function, or how else its name was learned. */
import type { HostName, HostNameKind } from '../../catalog/host-names.js';
import { packageOfFile } from '../../catalog/python-files.js';
import { causeLook, familyLook, hostLook, type Look } from '../names-and-colors.js';

/** Packages beyond these share a color: more colors than this cannot be told apart. */
const packageColors = [
  'elementwise',
  'activation',
  'moe-combine',
  'embedding',
  'norm',
  'recurrence',
  'sort-and-index',
].map(id => familyLook(id).color);

const packageId = (name: string) => `package:${name}`;

const looks = {
  waits: { id: 'waits', label: 'waits, other threads', color: familyLook('communication').color },
  modules: { id: 'modules', label: 'nn.Module', color: familyLook('quantise').color },
  builtIn: { id: 'built-in', label: 'Python built-ins', color: hostLook('frame').color },
  otherPython: { id: 'other-python', label: 'other Python packages', color: hostLook('library').color },
  range: { id: 'range', label: 'ranges', color: hostLook('range').color },
  operator: { id: 'operator', label: 'operators', color: familyLook('moe-dispatch').color },
  'api-call': { id: 'api-call', label: 'CUDA calls', color: hostLook('launch').color },
  'os-call': { id: 'os-call', label: 'OS calls', color: familyLook('attention').color },
  native: { id: 'native', label: 'native code', color: familyLook('reduce').color },
  interpreter: {
    id: 'interpreter',
    label: 'garbage collection',
    color: causeLook('garbage-collection').color,
  },
  between: { id: 'between', label: 'nothing recorded', color: causeLook('unknown').color },
  latency: { id: 'latency', label: 'launch latency', color: causeLook('launch-bound').color },
  smaller: { id: 'smaller', label: 'smaller, added up', color: familyLook('other').color },
} as const satisfies Record<string, Look>;

type Painted = Pick<HostName, 'kind' | 'file' | 'module' | 'isBuiltIn' | 'waits'>;

/** Groups of the names by index, and the looks of all groups that occur: largest packages first. */
export function flameGroups(
  names: readonly (Painted | 'smaller')[],
  sizes: readonly number[],
): { readonly groups: readonly Look[]; readonly groupOf: readonly number[] } {
  const ids = names.map(name => (name === 'smaller' ? looks.smaller.id : groupId(name)));
  const packageSizes = new Map<string, number>();
  ids.forEach((id, i) => {
    if (id.startsWith('package:')) packageSizes.set(id, (packageSizes.get(id) ?? 0) + sizes[i]);
  });
  const largest = [...packageSizes].sort((a, b) => b[1] - a[1]).slice(0, packageColors.length);
  const packages: Look[] = largest.map(([id], i) => ({
    id,
    label: id.slice(packageId('').length),
    color: packageColors[i],
  }));
  const known = new Map<string, Look>([...packages, ...Object.values(looks)].map(look => [look.id, look]));
  const lookOf = (id: string) => known.get(id) ?? looks.otherPython;
  const used = new Set(ids.map(lookOf));
  const groups = [...known.values()].filter(look => used.has(look));
  const indexOf = new Map(groups.map((look, i) => [look, i]));
  return { groups, groupOf: ids.map(id => indexOf.get(lookOf(id))!) };
}

const waitingKinds: readonly HostNameKind[] = ['no-cpu', 'thread'];

function groupId({ kind, file, module, isBuiltIn, waits }: Painted): string {
  if (waits || waitingKinds.includes(kind)) return looks.waits.id;
  if (kind !== 'function') return looks[kind as Exclude<HostNameKind, 'function' | 'no-cpu' | 'thread'>].id;
  if (module !== undefined) return looks.modules.id;
  if (file !== undefined) return packageId(packageOfFile(file.replace(/:\d+$/, '')));
  return isBuiltIn ? looks.builtIn.id : looks.otherPython.id;
}
