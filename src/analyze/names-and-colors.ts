/** What the catalogues call things and how they paint them, for those who draw results and know no catalogue. */
import { idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import { phases } from '../catalog/phases.js';

export interface Look {
  readonly id: string;
  readonly label: string;
  readonly color: string;
}

const lookup = (known: readonly Look[]) => (id: string | null) =>
  known.find(look => look.id === id) ?? { id: id ?? '', label: id ?? 'outside all steps', color: '#7f7f7f' };

export const phaseLook = lookup(phases);
export const familyLook = lookup(families);
export const causeLook = lookup(idleCauses);

/** The busy parts of a budget. Communication and copies look like the kernel families of the same name. */
export const busyParts = {
  compute: { id: 'compute', label: 'compute', color: '#3f7f93' },
  communication: { ...familyLook('communication'), label: 'comm exposed' },
  waiting: { id: 'rank-wait', label: 'waiting for ranks', color: '#e6a5c5' },
  copies: { ...familyLook('copy'), label: 'copies exposed' },
} as const;

export const causeOrder: readonly string[] = idleCauses.map(cause => cause.id);
