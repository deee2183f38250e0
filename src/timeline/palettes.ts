/** The colours of the timeline: those of the catalogues, and a few quiet ones for host events. One meaning each. */

import { hostLooks, type Look } from '../analyze/names-and-colors.js';
import { idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import { workColors } from '../catalog/palette.js';
import { phases } from '../catalog/phases.js';
import type { PaletteName } from './wire.js';

const look = ({ id, label, color }: Look): Look => ({ id, label, color });

const familyColor = (id: string): string => families.find(family => family.id === id)!.color;

/** What a rank does with its time, one row per rank. Communication and copies have the colours they have everywhere. */
const rankLooks: readonly Look[] = [
  { id: 'compute', label: 'compute', color: workColors.compute },
  { id: 'communication', label: 'exposed communication', color: familyColor('communication') },
  { id: 'waiting', label: 'waiting for the last rank', color: workColors['rank-wait'] },
  { id: 'copy', label: 'exposed copies', color: familyColor('copy') },
];

export const palettes: { readonly [Name in PaletteName]: readonly Look[] } = {
  family: [
    ...families.map(look),
    { id: 'graph-replay', label: 'graph replay', color: workColors['graph-replay'] },
    { id: 'graph-block', label: 'graph replay, kernels not recorded', color: workColors['graph-block'] },
  ],
  cause: idleCauses.map(look),
  phase: phases.map(look),
  host: hostLooks,
  rank: rankLooks,
};

/** Index of a look in its palette. */
export const toneOf = (palette: PaletteName, id: string): number =>
  palettes[palette].findIndex(known => known.id === id);
