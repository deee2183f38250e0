/** What an inference step does, with one label and one colour everywhere. Order is the order of display. */
import { phaseColors } from './palette.js';

export type Phase = 'prefill' | 'mixed' | 'decode' | 'speculative' | 'draft' | 'unknown';

export const phases: readonly { readonly id: Phase; readonly label: string; readonly color: string }[] = [
  { id: 'prefill', label: 'prefill', color: phaseColors.prefill },
  { id: 'mixed', label: 'mixed', color: phaseColors.mixed },
  { id: 'decode', label: 'decode', color: phaseColors.decode },
  { id: 'speculative', label: 'speculative', color: phaseColors.speculative },
  { id: 'draft', label: 'draft', color: phaseColors.draft },
  { id: 'unknown', label: 'unknown phase', color: phaseColors.unknown },
];

export const isPhase = (text: string): text is Phase => phases.some(phase => phase.id === text);
