/**
 * The kernel families: what a kernel is for, in words that travel across engines. Display order is list order.
 */
import { familyColors } from '../palette.js';

export type FamilyId =
  | 'attention'
  | 'gemm'
  | 'moe-router'
  | 'moe-dispatch'
  | 'moe-combine'
  | 'norm'
  | 'activation'
  | 'rope'
  | 'kv-cache'
  | 'quantise'
  | 'sampling'
  | 'embedding'
  | 'elementwise'
  | 'reduce'
  | 'communication'
  | 'copy'
  | 'memset'
  | 'convolution'
  | 'recurrence'
  | 'sort-and-index'
  | 'other';

interface Family {
  readonly id: FamilyId;
  readonly label: string;
  readonly color: string;
}

export const families: readonly Family[] = [
  { id: 'attention', label: 'attention', color: familyColors.attention },
  { id: 'gemm', label: 'GEMM', color: familyColors.gemm },
  { id: 'moe-router', label: 'MoE router', color: familyColors['moe-router'] },
  { id: 'moe-dispatch', label: 'MoE dispatch', color: familyColors['moe-dispatch'] },
  { id: 'moe-combine', label: 'MoE combine', color: familyColors['moe-combine'] },
  { id: 'norm', label: 'norm', color: familyColors.norm },
  { id: 'activation', label: 'activation', color: familyColors.activation },
  { id: 'rope', label: 'RoPE', color: familyColors.rope },
  { id: 'kv-cache', label: 'KV cache', color: familyColors['kv-cache'] },
  { id: 'quantise', label: 'quantise', color: familyColors.quantise },
  { id: 'sampling', label: 'sampling', color: familyColors.sampling },
  { id: 'embedding', label: 'embedding', color: familyColors.embedding },
  { id: 'elementwise', label: 'elementwise', color: familyColors.elementwise },
  { id: 'reduce', label: 'reduce', color: familyColors.reduce },
  { id: 'communication', label: 'communication', color: familyColors.communication },
  { id: 'copy', label: 'copy', color: familyColors.copy },
  { id: 'memset', label: 'memset', color: familyColors.memset },
  { id: 'convolution', label: 'convolution', color: familyColors.convolution },
  { id: 'recurrence', label: 'recurrence', color: familyColors.recurrence },
  { id: 'sort-and-index', label: 'sort and index', color: familyColors['sort-and-index'] },
  { id: 'other', label: 'other', color: familyColors.other },
];

const byId = new Map<string, Family>(families.map(family => [family.id, family]));

export const isFamilyId = (id: string): id is FamilyId => byId.has(id);
export const familyOf = (id: FamilyId): Family => byId.get(id)!;
