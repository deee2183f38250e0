/** A side's mean step in few parts: kernel families, exchange, copies, idle by cause. They sum to the step. */

import { busyParts, causeLook, causeOrder, familyLook, type Look } from '../analyze/names-and-colors.js';
import { families } from '../catalog/kernels/families.js';
import { workColors } from '../catalog/palette.js';
import type { SideMeans } from '../run/side-means.js';

interface SidePart {
  readonly label: string;
  readonly color: string;
  readonly ns: number;
}

export function sideParts({ parts, kernels }: SideMeans): SidePart[] {
  const sums = new Map<string, number>();
  for (const [part, { ns }] of parts) {
    const family = part.startsWith('kernel:')
      ? `kernel:${kernels.get(part)!.family}`
      : part.replace(/^(comm|wait|copy):.*/, '$1:');
    sums.set(family, (sums.get(family) ?? 0) + ns);
  }
  const looks: [string, Look][] = [
    ...families.map(({ id }): [string, Look] => [`kernel:${id}`, familyLook(id)]),
    ['replay:', { id: 'replay', label: 'graph replays', color: workColors['graph-block'] }],
    ['comm:', busyParts.communication],
    ['wait:', busyParts.waiting],
    ['copy:', busyParts.copies],
    ...causeOrder.map((id): [string, Look] => {
      const look = causeLook(id);
      return [`idle:${id}`, { ...look, label: `idle: ${look.label}` }];
    }),
  ];
  return looks.flatMap(([key, { label, color }]) => {
    const ns = sums.get(key) ?? 0;
    return ns > 0 ? [{ label, color, ns }] : [];
  });
}
