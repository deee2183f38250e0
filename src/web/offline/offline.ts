/**
 * Where the page was saved as one file there is no server: the same questions are answered from what the file holds.
 * Everything else of the page is as it is.
 */

import type { OpenedSnapshot } from '../../timeline/open-snapshot.js';
import { openSnapshot } from '../../timeline/open-snapshot.js';
import type { SelectionAsked } from '../../timeline/selection/chosen-events.js';
import type { Snapshot } from '../../timeline/snapshot-document.js';
import type { Bytes } from '../../timeline/spans.js';
import { Problem } from '../problem.js';

interface Offline {
  readonly snapshot: Snapshot;
  readonly opened: OpenedSnapshot;
}

const element = document.getElementById('stepscope-view');
export const isOffline = element !== null;
let loaded: Promise<Offline> | undefined;

/** Unpacks what the file holds; once. */
export function offline(): Promise<Offline> {
  loaded ??= (async () => {
    const data = JSON.parse(element!.textContent ?? '{}') as { snapshot: string; columns: string };
    const snapshot = JSON.parse(new TextDecoder().decode(await unpacked(data.snapshot))) as Snapshot;
    return { snapshot, opened: openSnapshot(snapshot, await unpacked(data.columns)) };
  })();
  return loaded;
}

async function unpacked(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

const notHere = ({ about }: Snapshot) =>
  new Problem(
    `This page holds only a part of the profile: ${about}.`,
    'Open the profile itself with: stepscope view FILE',
  );

export async function answerOffline(path: string): Promise<unknown> {
  const { snapshot, opened } = await offline();
  const { pathname, searchParams: query } = new URL(path, 'http://localhost/');
  const own = pathname.replace(/^\/api\/profiles\/1\//, '');
  if (pathname === '/api/state')
    return {
      version: '',
      profiles: [{ id: 1, name: snapshot.name, status: 'ready', done: 1 }],
      compare: null,
    };
  if (own === 'timeline') return opened.document;
  if (own === 'notes') return { notes: snapshot.notes, file: null };
  if (own === 'search') return opened.search(query.get('q') ?? '');
  if (own === 'search/match') {
    const near = query.get('near');
    return opened.match(
      query.get('q') ?? '',
      near === null ? { n: Number(query.get('n')) } : { near: Number(near) },
    );
  }
  if (own === 'waits') {
    const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
    return snapshot.waits.filter(({ lastNs }) => lastNs >= from && lastNs <= to);
  }
  if (own === 'selection') return opened.selection(selectionOf(query));
  const label = /^labels\/(\d+)$/.exec(own);
  if (label) return opened.labels(Number(label[1]));
  const event = /^events\/(\d+)\/(\d+)$/.exec(own);
  if (event) return opened.event(Number(event[1]), Number(event[2]));
  const known = snapshot.answers[path.replace(/^\.?/, '')] ?? snapshot.answers[path];
  if (known === undefined) throw notHere(snapshot);
  return known;
}

function selectionOf(query: URLSearchParams): SelectionAsked & { of?: string; by?: string } {
  const number = (name: string, missing: number) => (query.has(name) ? Number(query.get(name)) : missing);
  return {
    fromNs: number('from', Number.NEGATIVE_INFINITY),
    toNs: number('to', Number.POSITIVE_INFINITY),
    tracks: query.getAll('track'),
    query: query.get('q') ?? '',
    of: query.get('of') ?? undefined,
    by: query.get('by') ?? undefined,
  };
}

export async function bytesOffline(path: string, from: number, to: number): Promise<ArrayBuffer> {
  const { opened } = await offline();
  const { pathname, searchParams } = new URL(path, 'http://localhost/');
  const bytes: Bytes = pathname.endsWith('/search/columns')
    ? opened.searchColumns(searchParams.get('q') ?? '')
    : opened.columns;
  return bytes.read(from, to).buffer as ArrayBuffer;
}
