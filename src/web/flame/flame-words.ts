/** What the flame graph says about a box, in lines: for the tooltip, and for those who do not see it. */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import type { HostWeight } from '../../analyze/host-code/host-profile.js';
import { printable } from '../../base/printable.js';
import { formatCount, formatDuration, formatShare } from '../../base/units.js';
import type { FlameNode, NameTimes } from './flame-tree.js';

export interface Told {
  readonly document: FlameDocument;
  readonly weight: HostWeight;
  /** Time of the whole graph. */
  readonly allNs: number;
}

const kinds = { idle: 'GPU idle time', time: 'host time' } as const;

export const weightName = (weight: HostWeight): string => kinds[weight];

/** `8.93 ms per step`. */
export function meanTime({ document, weight }: Told, ns: number): string {
  return `${formatDuration(ns / document.weights[weight].windows)}${perStep(document)}`;
}

const perStep = ({ steps }: FlameDocument) => (steps > 1 ? ' per step' : '');

export function timeAndShare(told: Told, ns: number): string {
  return `${meanTime(told, ns)}, ${formatShare(told.allNs > 0 ? ns / told.allNs : 0)} of all`;
}

/**
 * `own`: the function wherever it is called. `isCaller`: the box stands for a caller, with the time of what it calls,
 * not with its own.
 */
export function boxLines(
  told: Told,
  node: FlameNode,
  own: NameTimes | undefined,
  isCaller: boolean,
): readonly (readonly [label: string, text: string])[] {
  const { document, weight } = told;
  const { windows } = document.weights[weight];
  const { file, group } = document.names[node.name] ?? { group: -1 };
  const calls = node.calls / windows;
  return [
    ...(file === undefined ? [] : [['File', printable(file)] as const]),
    ...(group < 0 ? [] : [['Group', printable(document.groups[group].label)] as const]),
    [isCaller ? 'On this path' : 'Total', timeAndShare(told, node.totalNs)],
    ...(isCaller ? [] : [['Self', timeAndShare(told, node.selfNs)] as const]),
    ...(own && (isCaller || own.totalNs !== node.totalNs)
      ? [['Everywhere', `total ${meanTime(told, own.totalNs)}, self ${meanTime(told, own.selfNs)}`] as const]
      : []),
    ...(node.name < 0
      ? []
      : [
          [
            'Calls',
            `${formatCount(calls < 100 ? Number(calls.toPrecision(3)) : Math.round(calls))}${perStep(document)}`,
          ] as const,
        ]),
  ];
}
