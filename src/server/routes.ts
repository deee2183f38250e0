/** The addresses of wire.ts under /api: one line each. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutEndings } from '../catalog/file-formats.js';
import { compareSteps } from '../compare/step-difference.js';
import type { SelectionAsked } from '../timeline/selection/chosen-events.js';
import type { Bytes } from '../timeline/spans.js';
import type { ViewedProfile } from '../timeline/viewed-profile.js';
import type { StateDocument } from '../timeline/wire.js';
import { sendBody, sendJson, sendPieces } from './answers.js';
import { type DroppedFiles, displayName } from './dropped-file.js';
import type { OpenProfiles } from './open-profiles.js';
import type { Told } from './open-viewed.js';
import { sendBytes } from './ranges.js';
import { Refusal } from './refusal.js';
import { decodeSegment, type RequestTarget, readIndex, readNs, readSteps } from './request-target.js';
import { type SelectionSql, sqlTablesOfPage } from './selection-sql.js';
import { sharePage } from './share-page.js';
import type { StaticFiles } from './static-files.js';

/** What the server has to answer with. */
export interface Services {
  readonly version: string;
  readonly page: StaticFiles;
  readonly profiles: OpenProfiles;
  /** Ids of the two profiles to open side by side. */
  readonly compare: readonly [number, number] | null;
  readonly dropped: DroppedFiles;
  /** Absent where DuckDB is not installed. */
  readonly sql?: SelectionSql;
  openDropped(file: string, name: string, told: Told): Promise<ViewedProfile>;
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly services: Services;
  readonly query: URLSearchParams;
  /** What stands in the address where the route has a colon, from left to right. */
  readonly at: readonly string[];
  /** The profile whose number stands first. */
  readonly view: ViewedProfile;
}

interface Route {
  readonly method: 'GET' | 'PUT';
  readonly pattern: RegExp;
  answer(call: Call): void | Promise<void>;
}

const pattern = (address: string): RegExp =>
  new RegExp(`^/api/${address.replaceAll('.', '\\.').replaceAll(':', '([^/]+)')}$`);

const document = (address: string, make: (call: Call) => unknown): Route => ({
  method: 'GET',
  pattern: pattern(address),
  answer: call => sendJson(call.response, make(call)),
});

const bytes = (address: string, make: (call: Call) => Bytes): Route => ({
  method: 'GET',
  pattern: pattern(address),
  answer: call => sendBytes(call.request, call.response, make(call)),
});

const download = (
  address: string,
  mediaType: string,
  make: (view: ViewedProfile, fromNs: number, toNs: number) => Iterable<string>,
): Route => ({
  method: 'GET',
  pattern: pattern(address),
  async answer({ request, response, query, view }) {
    const pieces = make(view, readNs(query.get('from'), -Infinity), readNs(query.get('to'), Infinity));
    response.setHeader('Content-Type', mediaType);
    const [ending] = /[^/:]+$/.exec(address)!;
    response.setHeader('Content-Disposition', `attachment; filename="${fileName(view.name)}.${ending}"`);
    if (request.method === 'HEAD') response.end();
    else await sendPieces(response, pieces);
  },
});

const dropProfile: Route = {
  method: 'PUT',
  pattern: pattern('profiles'),
  async answer({ request, response, query, services: { profiles, dropped, openDropped } }) {
    dropped.check(request);
    if (request.headers.expect !== undefined) response.writeContinue();
    const name = displayName(query.get('name'));
    const id = await profiles.open(name, told =>
      dropped.keepWhile(
        request,
        done => told.onProgress(name, done),
        file => openDropped(file, name, { ...told, onProgress: (_, done) => told.onProgress(name, done) }),
      ),
    );
    sendJson(response, { id });
  },
};

/** A name any disk takes, that says nothing to a header. */
const fileName = (name: string): string =>
  withoutEndings(name)
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80) || 'profile';

const routes: readonly Route[] = [
  document(
    'state',
    ({ services: { version, profiles, compare, sql } }): StateDocument => ({
      version,
      profiles: profiles.states(),
      compare,
      ...(sql ? sqlTablesOfPage : {}),
    }),
  ),
  dropProfile,
  document('profiles/:/notes', ({ services, at }) =>
    services.profiles.notes(readIndex('profile', at[0])).document(),
  ),
  {
    method: 'PUT',
    pattern: pattern('profiles/:/notes'),
    async answer({ request, response, services, at }) {
      sendJson(response, await services.profiles.notes(readIndex('profile', at[0])).change(request));
    },
  },
  document('profiles/:/timeline', ({ view }) => view.timeline()),
  bytes('profiles/:/columns', ({ view }) => view.columns()),
  document('profiles/:/labels/:', ({ view, at }) => view.labels(readIndex('page', at[1]))),
  document('profiles/:/events/:/:', ({ view, at }) =>
    view.event(readIndex('lane', at[1]), readIndex('event', at[2])),
  ),
  document('profiles/:/like', ({ view, query }) => view.like(query.get('name') ?? '')),
  document('profiles/:/search', ({ view, query }) => view.search(query.get('q') ?? '')),
  bytes('profiles/:/search/columns', ({ view, query }) => view.searchColumns(query.get('q') ?? '')),
  document('profiles/:/search/match', ({ view, query }) =>
    view.match(query.get('q') ?? '', readMatchPlace(query)),
  ),
  document('profiles/:/ranks', ({ view }) => view.ranks()),
  document('profiles/:/waits', ({ view, query }) =>
    view.waits(readNs(query.get('from'), -Infinity), readNs(query.get('to'), Infinity)),
  ),
  document('profiles/:/selection', ({ view, query }) =>
    view.selection({
      ...readSelection(query),
      of: query.get('of') ?? undefined,
      by: query.get('by') ?? undefined,
    }),
  ),
  {
    method: 'GET',
    pattern: pattern('profiles/:/selection/sql'),
    async answer({ response, services: { sql }, query, at, view }) {
      if (!sql)
        throw new Refusal(
          404,
          'SQL cannot be asked here: DuckDB is not installed.',
          'Install it next to stepscope: npm install @duckdb/node-api',
        );
      const asked = readSelection(query);
      const key = JSON.stringify([
        at[0],
        String(asked.fromNs),
        String(asked.toNs),
        asked.tracks,
        asked.query,
      ]);
      sendJson(
        response,
        await sql.ask(
          key,
          { selected: () => view.selectedEvents(asked), analyzer: () => view.lookingAt() },
          query.get('sql') ?? '',
          () => response.destroyed,
        ),
      );
    },
  },
  document('profiles/:/answer', ({ view, query }) => view.answer(readSteps(query.get('steps')))),
  document('profiles/:/panels/:', ({ view, at, query }) => view.panel(at[1], readSteps(query.get('steps')))),
  document('profiles/:/flame', ({ view, query }) =>
    view.flame(readSteps(query.get('steps')), readDuring(query)),
  ),
  document('compare', ({ services, query }) => {
    const side = (id: string, step: string) => {
      const view = services.profiles.get(readIndex('profile', query.get(id)));
      const text = query.get(step);
      const at = text === null ? undefined : readIndex('step', text);
      const steps = at === undefined ? undefined : { first: at, last: at };
      return { name: view.name, analyzer: view.lookingAt(steps) };
    };
    return { blocks: compareSteps(side('a', 'stepA'), side('b', 'stepB')) };
  }),
  {
    method: 'GET',
    pattern: pattern('profiles/:/page.html'),
    async answer({ response, services, query, at, view }) {
      const id = readIndex('profile', at[0]);
      const isRedacted = query.get('redact') === '1';
      const shown = isRedacted ? await services.profiles.redacted(id) : view;
      const made = shown.snapshot({
        fromNs: readNs(query.get('from'), -Infinity),
        toNs: readNs(query.get('to'), Infinity),
        steps: readSteps(query.get('steps')),
        event: readEvent(query.get('event')),
        // What people wrote is not judged by any rule: a redacted page has none of it.
        notes: isRedacted ? [] : services.profiles.notes(id).document().notes,
        at: (query.get('at') ?? '').slice(0, 4000),
      });
      response.setHeader('Content-Disposition', `attachment; filename="${fileName(view.name)}-view.html"`);
      sendBody(response, 200, 'text/html; charset=utf-8', sharePage(services.page, made));
    },
  },
  download('profiles/:/trace.json', 'application/json; charset=utf-8', (view, from, to) =>
    view.trace(from, to),
  ),
  download('profiles/:/events.csv', 'text/csv; charset=utf-8', (view, from, to) => view.csv(from, to)),
];

/** LANE.INDEX */
function readEvent(text: string | null): { lane: number; index: number } | undefined {
  if (text === null) return undefined;
  const [lane, index] = text.split('.');
  return { lane: readIndex('lane', lane), index: readIndex('event', index ?? null) };
}

/** A stretch of time, where one is given. */
function readDuring(query: URLSearchParams): { fromNs: number; toNs: number } | undefined {
  if (!query.has('from') || !query.has('to')) return undefined;
  return { fromNs: readNs(query.get('from'), 0), toNs: readNs(query.get('to'), 0) };
}

const readSelection = (query: URLSearchParams): SelectionAsked => ({
  fromNs: readNs(query.get('from'), -Infinity),
  toNs: readNs(query.get('to'), Infinity),
  tracks: query.getAll('track'),
  query: query.get('q') ?? '',
});

function readMatchPlace(query: URLSearchParams): { n: number } | { near: number } {
  const near = query.get('near');
  return near === null ? { n: readIndex('match', query.get('n')) } : { near: readNs(near, 0) };
}

export async function answerApi(
  request: IncomingMessage,
  response: ServerResponse,
  { path, query }: RequestTarget,
  services: Services,
): Promise<void> {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const known = routes.filter(({ pattern }) => pattern.test(path));
  const route = known.find(candidate => candidate.method === method);
  if (!route) {
    if (known.length === 0) throw new Refusal(404, 'This address does not exist.', 'Reload the page.');
    throw new Refusal(405, `${request.method} is not allowed for this address.`, 'Reload the page.', {
      Allow: known[0].method === 'GET' ? 'GET, HEAD' : known[0].method,
    });
  }
  const at = route.pattern.exec(path)!.slice(1).map(decodeSegment);
  // Answers are computed one after the other. Who hung up while waiting for another's is noticed only in between:
  // Node reads the question in one turn and the hanging up in the next.
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
  if (!request.socket.writable) return;
  await route.answer({
    request,
    response,
    services,
    query,
    at,
    get view() {
      return services.profiles.get(readIndex('profile', at[0]));
    },
  });
}
