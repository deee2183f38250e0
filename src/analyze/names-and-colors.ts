/** What the catalogues call things and how they paint them, for those who draw results and know no catalogue. */
import { idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import { hostColors, NEUTRAL, workColors } from '../catalog/palette.js';
import { phases } from '../catalog/phases.js';

/** For those who draw: what is idle time is hatched, and what has no colour of its own takes one of a series. */
export { isIdleColor, NEUTRAL, OTHER_IDLE, seriesColors } from '../catalog/palette.js';

export interface Look {
  readonly id: string;
  readonly label: string;
  readonly color: string;
}

const lookup = (known: readonly Look[]) => (id: string | null) =>
  known.find(look => look.id === id) ?? { id: id ?? '', label: id ?? 'outside all steps', color: NEUTRAL };

export const phaseLook = lookup(phases);
/** `decode`; empty where steps have no phase, or none that is known. */
export const knownPhase = (phase: string | null): string =>
  phase === null || phase === 'unknown' ? '' : phaseLook(phase).label;
export const familyLook = lookup(families);
export const causeLook = lookup(idleCauses);
export const hostLook = (id: string): Look => lookup(hostLooks)(id);

/** The busy parts of a budget. Communication and copies look like the kernel families of the same name. */
export const busyParts = {
  compute: { id: 'compute', label: 'compute', color: workColors.compute },
  communication: { ...familyLook('communication'), label: 'comm exposed' },
  waiting: { id: 'rank-wait', label: 'waiting for ranks', color: workColors['rank-wait'] },
  copies: { ...familyLook('copy'), label: 'copies exposed' },
} as const;

export const causeOrder: readonly string[] = idleCauses.map(cause => cause.id);

/** Events of the host on a timeline: quiet, so that the GPU's stand out. */
export const hostLooks: readonly Look[] = [
  { id: 'range', label: 'range', color: hostColors.range },
  { id: 'op', label: 'framework op', color: hostColors.op },
  { id: 'frame', label: 'Python frame', color: hostColors.frame },
  { id: 'api', label: 'CUDA call', color: hostColors.api },
  { id: 'launch', label: 'launch', color: hostColors.launch },
  { id: 'graph-launch', label: 'graph launch', color: hostColors['graph-launch'] },
  { id: 'library', label: 'library call', color: hostColors.library },
  { id: 'mark', label: 'mark', color: hostColors.mark },
  { id: 'gil-hold', label: 'holding the GIL', color: hostColors['gil-hold'] },
  { id: 'on-cpu-launching', label: 'launching thread on a CPU', color: hostColors['on-cpu-launching'] },
  { id: 'on-cpu', label: 'other thread on a CPU', color: hostColors['on-cpu'] },
  // What explains idle time has the colour of the cause.
  ...idleCauses.map(({ id, label, color }) => ({ id, label, color })),
];
