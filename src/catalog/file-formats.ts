/** The formats of profiles: what a user calls them, and how their files' names end. Content decides, names help. */

export interface FileFormat {
  readonly id: string;
  readonly label: string;
  readonly endings: readonly string[];
}

/** The newest schema of Nsight Systems exports that was read and checked: that of 2026.2. */
export const NEWEST_NSYS_SCHEMA = '3.25';

/** What nsys leaves if it cannot make a report itself: the stream that its importer makes one of. */
export const STREAM_ENDING = '.qdstrm';

export const fileFormats = {
  nsysSqlite: { id: 'nsys-sqlite', label: 'Nsight Systems SQLite export', endings: ['.sqlite'] },
  nsysRep: {
    id: 'nsys-rep',
    label: 'Nsight Systems report (.nsys-rep)',
    endings: ['.nsys-rep', STREAM_ENDING],
  },
  kinetoJson: {
    id: 'kineto-json',
    label: 'PyTorch profiler trace (Kineto JSON)',
    endings: ['.json'],
  },
  perfetto: {
    id: 'perfetto',
    label: 'Perfetto trace of PyTorch or Stepscope (.pftrace)',
    endings: ['.pftrace', '.perfetto-trace'],
  },
  agentSidecar: {
    id: 'agent-sidecar',
    label: 'steps written by the Stepscope agent',
    endings: ['.agent.json'],
  },
} as const satisfies Readonly<Record<string, FileFormat>>;

/** How names of packed files end. Content decides here too. */
const packedEndings = ['.gz', '.zst', '.xz'] as const;
export type PackedEnding = (typeof packedEndings)[number];

/** `rank0.json.gz` is `rank0.json`. */
export function withoutPacking(name: string): string {
  const ending = packedEndings.find(end => name.toLowerCase().endsWith(end));
  return ending === undefined ? name : name.slice(0, -ending.length);
}

const all: readonly FileFormat[] = Object.values(fileFormats);
/** What may stand before an ending, or stood for it once. */
const otherEndings = [...packedEndings, '.trace', '.pt', '.qdrep'];

/** `rank0.pt.trace.json.gz` is `rank0`. */
export function withoutEndings(name: string, formats = all): string {
  const endings = [...otherEndings, ...formats.flatMap(format => format.endings)];
  const ending = endings.find(end => name.toLowerCase().endsWith(end) && name.length > end.length);
  return ending === undefined ? name : withoutEndings(name.slice(0, -ending.length), formats);
}

/** The name of a report as nsys wants it: it adds the ending itself. */
export const reportStem = (name: string): string =>
  withoutEndings(name, [fileFormats.nsysRep, fileFormats.nsysSqlite]);
