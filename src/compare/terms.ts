/**
 * The change of a step's time as a sum: per kernel family the same kernels, those exchanged, regrouped, removed and
 * added; exposed communication; exposed copies; idle per cause. Every term carries the rows it is made of.
 */

import { busyParts, causeLook, causeOrder, type Look } from '../analyze/names-and-colors.js';
import { families } from '../catalog/kernels/families.js';
import { workColors } from '../catalog/palette.js';
import { isCommunication, RANK_WAIT, REPLAY } from '../run/run.js';
import type { SideMeans } from '../run/side-means.js';
import { kernelTerms } from './kernel-terms.js';
import { byChange, rowSide, sumsOf, type Term, type TermKind, termRow } from './term-rows.js';

const kindOrder: readonly TermKind[] = [
  'same',
  'replaced',
  'regrouped',
  'removed',
  'added',
  'hidden',
  'communication',
  'waiting',
  'copies',
  'idle',
];

export function termsOf(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Term[] {
  const terms = [
    ...computeTerms(from, to, spellingsDiffer),
    ...communicationTerms(from, to),
    ...joinedTerm('copy:', 'copies', busyParts.copies, from, to),
    ...idleTerms(from, to),
  ];
  const familyOrder = families.map(({ id }) => id as string);
  const place = ({ kind, of }: Term) =>
    kind === 'idle'
      ? causeOrder.indexOf(of)
      : kind === 'communication' || kind === 'waiting' || kind === 'copies'
        ? 0
        : familyOrder.indexOf(of);
  const group = ({ kind }: Term) => Math.max(0, kindOrder.indexOf(kind) - kindOrder.indexOf('hidden'));
  return terms.sort(
    (a, b) =>
      group(a) - group(b) ||
      place(a) - place(b) ||
      kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind) ||
      (a.key < b.key ? -1 : 1),
  );
}

/** Transferring and waiting are told apart where the ranks of both sides were matched; otherwise they are one term. */
function communicationTerms(from: SideMeans, to: SideMeans): Term[] {
  if (!from.parts.has(RANK_WAIT) || !to.parts.has(RANK_WAIT))
    return joinedTerm(isCommunication, 'communication', busyParts.communication, from, to);
  return [
    ...joinedTerm(
      'comm:',
      'communication',
      { ...busyParts.communication, label: 'comm transferring' },
      from,
      to,
    ),
    ...joinedTerm(RANK_WAIT, 'waiting', busyParts.waiting, from, to),
  ];
}

function computeTerms(from: SideMeans, to: SideMeans, spellingsDiffer: boolean): Term[] {
  // What a replay hides on one side cannot be told apart on the other.
  if (from.parts.has(REPLAY) !== to.parts.has(REPLAY)) return hiddenTerm(from, to);
  return [...kernelTerms(from, to, spellingsDiffer), ...joinedTerm(REPLAY, 'same', replays, from, to)];
}

const replays: Look = {
  id: 'graph-replay',
  label: 'graph replays (kernels not recorded)',
  color: workColors['graph-block'],
};

/** One term for all compute: what runs inside replays, and between their kernels, was recorded on one side only. */
function hiddenTerm(from: SideMeans, to: SideMeans): Term[] {
  const look: Look = {
    id: '',
    label: 'compute and graph replays (kernels hidden on one side)',
    color: workColors['graph-block'],
  };
  const isCompute = (part: string) => part.startsWith('kernel:') || part === REPLAY;
  return joinedTerm(isCompute, 'hidden', look, from, to);
}

/** All parts whose name begins so, joined by name. */
function joinedTerm(
  wanted: string | ((part: string) => boolean),
  kind: TermKind,
  { id, label, color }: Look,
  from: SideMeans,
  to: SideMeans,
): Term[] {
  const isWanted = typeof wanted === 'string' ? (part: string) => part.startsWith(wanted) : wanted;
  const names = [...new Set([...from.parts.keys(), ...to.parts.keys()])].filter(isWanted).sort();
  if (names.length === 0) return [];
  const side = (means: SideMeans, part: string) => {
    const known = means.parts.get(part);
    return known ? rowSide(means, part, known.count, known.ns) : null;
  };
  const rows = names.map(name => termRow(side(from, name), side(to, name)));
  return [{ key: kind, kind, of: id, label, color, ...sumsOf(rows), rows: byChange(rows) }];
}

function idleTerms(from: SideMeans, to: SideMeans): Term[] {
  const causes = [...new Set([...from.parts.keys(), ...to.parts.keys()])].filter(part =>
    part.startsWith('idle:'),
  );
  return causes.map(part => {
    const { id, label, color } = causeLook(part.slice(5));
    const [fromNs, toNs] = [from.parts.get(part)?.ns ?? 0, to.parts.get(part)?.ns ?? 0];
    return {
      key: `idle/${id}`,
      kind: 'idle' as const,
      of: id,
      label: `idle: ${label}`,
      color,
      fromNs,
      toNs,
      changeNs: toNs - fromNs,
      fromCount: null,
      toCount: null,
      rows: [],
    };
  });
}
