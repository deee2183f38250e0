/** The family of every piece of GPU work: kernels by name, copies and memsets by what they are. */
import type { KernelClass, KernelClassifier } from '../../catalog/kernels/classify.js';
import { createClassifier } from '../../catalog/kernels/classify.js';
import { type FamilyId, families } from '../../catalog/kernels/families.js';
import type { Derived } from '../analysis.js';
import { gpuWork, WorkKind } from './gpu-work.js';

interface KernelClasses {
  readonly classifier: KernelClassifier;
  /** The class of a kernel name's string id. */
  classOf(nameId: number): KernelClass;
}

export interface WorkFamilies extends KernelClasses {
  /** Per piece of work: index into `families`, or HIDDEN for a graph replay recorded as a block. */
  readonly family: Uint8Array;
}

export const HIDDEN = 255;
export const familyIndex = (id: FamilyId): number => families.findIndex(family => family.id === id);

/** For those who ask about a few names: no piece of work is looked at. */
export const kernelClasses: Derived<KernelClasses> = {
  id: 'kernel-classes',
  reads: {},
  uses: [],
  compute({ profile, settings }) {
    const classifier = createClassifier(settings.kernelRules);
    const known: (KernelClass | undefined)[] = [];
    return { classifier, classOf: id => (known[id] ??= classifier.classify(profile.strings.text(id))) };
  },
};

export const workFamilies: Derived<WorkFamilies> = {
  id: 'work-families',
  reads: {},
  uses: [gpuWork, kernelClasses],
  compute({ profile, use }) {
    const work = use(gpuWork);
    const names = profile.tables.kernels?.name;
    const classes = use(kernelClasses);
    const { classOf } = classes;
    const indexOf = new Map(families.map((family, index) => [family.id, index]));
    const indexOfName: number[] = [];
    const family = new Uint8Array(work.length);
    const copy = indexOf.get('copy')!;
    const memset = indexOf.get('memset')!;
    for (let i = 0; i < work.length; i++) {
      const kind = work.kind[i];
      if (kind === WorkKind.kernel) {
        const id = names![work.row[i]];
        family[i] = indexOfName[id] ??= indexOf.get(classOf(id).family)!;
      } else family[i] = kind === WorkKind.copy ? copy : kind === WorkKind.memset ? memset : HIDDEN;
    }
    return { family, ...classes };
  },
};
