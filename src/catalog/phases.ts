/** What an inference step does, with one label and one colour everywhere. Order is the order of display. */
export type Phase = 'prefill' | 'mixed' | 'decode' | 'speculative' | 'draft' | 'unknown';

export const phases: readonly { readonly id: Phase; readonly label: string; readonly color: string }[] = [
  { id: 'prefill', label: 'prefill', color: '#d95f02' },
  { id: 'mixed', label: 'mixed', color: '#b8860b' },
  { id: 'decode', label: 'decode', color: '#1f78b4' },
  { id: 'speculative', label: 'speculative', color: '#7570b3' },
  { id: 'draft', label: 'draft', color: '#a6cee3' },
  { id: 'unknown', label: 'unknown phase', color: '#7f7f7f' },
];

export const isPhase = (text: string): text is Phase => phases.some(phase => phase.id === text);
