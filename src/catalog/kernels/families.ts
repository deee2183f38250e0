/**
 * The kernel families: what a kernel is for, in words that travel across engines. Display order is list order.
 * Colours start from Okabe and Ito's palette for colour-blind readers; the six families that carry most time take the
 * strongest of it, related families share a hue and differ in lightness, the rest is quiet.
 */
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
  { id: 'attention', label: 'attention', color: '#d55e00' },
  { id: 'gemm', label: 'GEMM', color: '#0072b2' },
  { id: 'moe-router', label: 'MoE router', color: '#00614a' },
  { id: 'moe-dispatch', label: 'MoE dispatch', color: '#009e73' },
  { id: 'moe-combine', label: 'MoE combine', color: '#7fd1b9' },
  { id: 'norm', label: 'norm', color: '#f0e442' },
  { id: 'activation', label: 'activation', color: '#e69f00' },
  { id: 'rope', label: 'RoPE', color: '#a6611a' },
  { id: 'kv-cache', label: 'KV cache', color: '#80cdc1' },
  { id: 'quantise', label: 'quantise', color: '#7b5ea7' },
  { id: 'sampling', label: 'sampling', color: '#332288' },
  { id: 'embedding', label: 'embedding', color: '#b8a9d9' },
  { id: 'elementwise', label: 'elementwise', color: '#56b4e9' },
  { id: 'reduce', label: 'reduce', color: '#5b7f95' },
  { id: 'communication', label: 'communication', color: '#cc79a7' },
  { id: 'copy', label: 'copy', color: '#c2a36b' },
  { id: 'memset', label: 'memset', color: '#e3d5b8' },
  { id: 'convolution', label: 'convolution', color: '#1f4e79' },
  { id: 'recurrence', label: 'recurrence', color: '#f4a582' },
  { id: 'sort-and-index', label: 'sort and index', color: '#8a8f3c' },
  { id: 'other', label: 'other', color: '#9e9e9e' },
];

const byId = new Map<string, Family>(families.map(family => [family.id, family]));

export const isFamilyId = (id: string): id is FamilyId => byId.has(id);
export const familyOf = (id: FamilyId): Family => byId.get(id)!;
