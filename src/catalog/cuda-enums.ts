/**
 * CUPTI's numbers and the words for them, as Nsight Systems writes them in its ENUM_ tables
 * (exports before 2022 have the numbers without the tables).
 */
export const copyKindLabels: readonly string[] = [
  'Unknown',
  'Host-to-Device',
  'Device-to-Host',
  'Host-to-Array',
  'Array-to-Host',
  'Array-to-Array',
  'Array-to-Device',
  'Device-to-Array',
  'Device-to-Device',
  'Host-to-Host',
  'Peer-to-Peer',
  'Unified Host-to-Device',
  'Unified Device-to-Host',
  'Unified Device-to-Device',
];

export const memoryKindLabels: readonly string[] = [
  'Pageable',
  'Pinned',
  'Device',
  'Array',
  'Managed',
  'Device Static',
  'Managed Static',
  'Unknown',
];

export const CopyKind = { hostToDevice: 1, deviceToHost: 2, deviceToDevice: 8, peerToPeer: 10 } as const;
export const MemoryKind = { pageable: 0, pinned: 1, device: 2, managed: 4 } as const;
