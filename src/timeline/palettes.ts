/** The colours of the timeline: those of the catalogues, and a few quiet ones for host events. One meaning each. */

import type { Look } from '../analyze/names-and-colors.js';
import { idleCauses } from '../catalog/idle-causes.js';
import { families } from '../catalog/kernels/families.js';
import { phases } from '../catalog/phases.js';
import type { PaletteName } from './wire.js';

const look = ({ id, label, color }: Look): Look => ({ id, label, color });

const host: readonly Look[] = [
  { id: 'range', label: 'range', color: '#b9b4a7' },
  { id: 'op', label: 'framework op', color: '#a8b5b2' },
  { id: 'frame', label: 'Python frame', color: '#b5adbd' },
  { id: 'api', label: 'CUDA call', color: '#b3a98f' },
  { id: 'launch', label: 'launch', color: '#c8a45c' },
  { id: 'graph-launch', label: 'graph launch', color: '#0b7a6b' },
  { id: 'library', label: 'library call', color: '#a3a9c0' },
  { id: 'mark', label: 'mark', color: '#8b8577' },
  { id: 'gil-hold', label: 'holding the GIL', color: '#b8d4b0' },
  // What explains idle time has the colour of the cause.
  ...idleCauses.map(look),
];

export const palettes: { readonly [Name in PaletteName]: readonly Look[] } = {
  family: [
    ...families.map(look),
    { id: 'graph-replay', label: 'graph replay', color: '#8c9aa3' },
    { id: 'graph-block', label: 'graph replay, kernels not recorded', color: '#6f7f89' },
  ],
  cause: idleCauses.map(look),
  phase: phases.map(look),
  host,
};

/** Index of a look in its palette. */
export const toneOf = (palette: PaletteName, id: string): number =>
  palettes[palette].findIndex(known => known.id === id);
