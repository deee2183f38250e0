/** Real captures through the server: what arrives is what the profile answers, for every address of the table. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openProfile } from '../src/import/open.js';
import { DroppedFiles } from '../src/server/dropped-file.js';
import { OpenProfiles } from '../src/server/open-profiles.js';
import { openViewed } from '../src/server/open-viewed.js';
import { type RunningServer, startServer } from '../src/server/server.js';
import { capturePath } from '../src/testing/captures.js';
import { viewProfile } from '../src/timeline/view-profile.js';
import type { ViewedProfile } from '../src/timeline/viewed-profile.js';
import { ask, rememberKey } from './small-server.js';

const captures: [name: string, file: string][] = [
  ['eager', capturePath('eager')],
  ['graph', capturePath('graph')],
  ['graphmode', capturePath('graphmode')],
  ['client, without GPU work', capturePath('client')],
  ['stress', capturePath('stress')],
  ['eager by PyTorch', capturePath('eager', 'kineto.json.gz')],
];

/** As it looks after the journey. */
const sent = (value: unknown) => JSON.parse(JSON.stringify(value));

for (const [name, file] of captures) {
  describe(name, () => {
    let server: RunningServer;
    let own: ViewedProfile;
    before(async () => {
      const profiles = new OpenProfiles();
      await profiles.open(name, () => openViewed([file], {}));
      server = await startServer({
        ...{ version: '', profiles, compare: null, page: new Map(), dropped: new DroppedFiles() },
        openDropped: () => assert.fail('nothing is dropped'),
      });
      rememberKey(server.url);
      own = viewProfile(await openProfile([file]), {}, name);
    });
    after(() => server.stop());
    const get = (address: string, headers = {}) =>
      ask(server.port, `/api/profiles/1/${address}`, { headers });
    const json = async (address: string) => {
      const { status, text } = await get(address);
      assert.equal(status, 200, `${address}: ${text.slice(0, 200)}`);
      return JSON.parse(text);
    };

    test('timeline and labels', async () => {
      const timeline = own.timeline();
      assert.deepEqual(await json('timeline'), sent(timeline));
      assert.deepEqual(await json('labels/0'), sent(own.labels(0)));
      assert.ok(timeline.labels === 0 || own.labels(0).length > 0);
    });

    test('columns, whole and in ranges', async () => {
      const bytes = own.columns();
      const whole = Buffer.from(bytes.read(0, bytes.length));
      assert.deepEqual((await get('columns')).body, whole);
      const overview = own.timeline().overviewBytes;
      const ranges: [number, number][] = [
        [0, overview],
        [overview, bytes.length],
        [overview - 3, overview + 5],
        [bytes.length - 1, bytes.length],
      ];
      for (const [from, to] of ranges.filter(
        ([from, to]) => from >= 0 && from < Math.min(to, bytes.length),
      )) {
        const { status, body } = await get('columns', { Range: `bytes=${from}-${to - 1}` });
        assert.equal(status, 206);
        assert.deepEqual(body, whole.subarray(from, to));
      }
    });

    test('events', async () => {
      const lanes = own.timeline().tracks.flatMap(({ kind, lanes }) => (kind === 'slices' ? lanes : []));
      for (const { id, levels } of lanes.slice(0, 10)) {
        for (const index of [0, levels[0].length - 1].filter(index => index >= 0))
          assert.deepEqual(await json(`events/${id}/${index}`), sent(own.event(id, index)));
      }
      assert.equal((await get('events/100000/0')).status, 404);
    });

    test('search', async () => {
      for (const query of ['gemm', 'no such thing', 'a b', '(', '<img>', 'é']) {
        const q = encodeURIComponent(query);
        let found: ReturnType<ViewedProfile['search']>;
        try {
          found = own.search(query);
        } catch (error) {
          const { status, text } = await get(`search?q=${q}`);
          assert.deepEqual([status, JSON.parse(text).error.message], [400, (error as Error).message]);
          continue;
        }
        assert.deepEqual(await json(`search?q=${q}`), sent(found));
        const bytes = own.searchColumns(query);
        assert.deepEqual((await get(`search/columns?q=${q}`)).body, Buffer.from(bytes.read(0, bytes.length)));
        if (found.count === 0) continue;
        assert.deepEqual(
          await json(`search/match?q=${q}&n=${found.count - 1}`),
          own.match(query, { n: found.count - 1 }),
        );
        const near = own.timeline().startNs;
        assert.deepEqual(await json(`search/match?q=${q}&near=${near}`), own.match(query, { near }));
      }
    });

    test('the answer and every panel, for the steady state and for chosen steps', async () => {
      const { steps, panels } = own.timeline();
      assert.ok(panels.length > 10);
      const spans = steps.length > 1 ? [undefined, { first: 0, last: 1 }] : [undefined];
      for (const span of spans) {
        const query = span ? `?steps=${span.first}-${span.last}` : '';
        assert.deepEqual(await json(`answer${query}`), sent(own.answer(span)));
        for (const { id } of panels)
          assert.deepEqual(await json(`panels/${id}${query}`), sent(own.panel(id, span)), id);
      }
      assert.equal((await get('answer?steps=100000-100001')).status, 400);
      assert.equal((await get('panels/no-such-analysis')).status, 400);
    });

    test('downloads of a window and of everything', async () => {
      const { startNs, endNs } = own.timeline();
      const middle = (startNs + endNs) / 2;
      const windows: [query: string, fromNs: number, toNs: number][] = [
        [`?from=${startNs}&to=${middle}`, startNs, middle],
        ['', -Infinity, Infinity],
      ];
      for (const [query, fromNs, toNs] of windows) {
        const trace = await get(`trace.json${query}`);
        assert.equal(trace.text, [...own.trace(fromNs, toNs)].join(''));
        assert.ok(Array.isArray(JSON.parse(trace.text).traceEvents));
        assert.equal((await get(`events.csv${query}`)).text, [...own.csv(fromNs, toNs)].join(''));
      }
    });
  });
}
