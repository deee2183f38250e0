/** The Python package as users have it: built, installed, asked from another folder, given what is wrong. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { analyses } from '../src/analyze/index.js';
import { arrowTable } from '../src/sql/arrow-table.js';
import { profileTables } from '../src/sql/tables.js';
import { capturePath, projectRoot } from '../src/testing/captures.js';
import { lacks, locate } from '../src/testing/needs.js';
import { buildWheel, environmentWith, mustRun, runProgram } from './python-setup.js';
import { answerIn, runStepscope } from './run-stepscope.js';

const skip = lacks('notebook');
const home = mkdtempSync(path.join(tmpdir(), 'stepscope-python-'));
after(() => rmSync(home, { recursive: true, force: true }));
const elsewhere = path.join(home, "else'where");
mkdirSync(elsewhere);

const { version } = JSON.parse(readFileSync(path.join(projectRoot, 'package.json'), 'utf8'));
const wheel = skip ? '' : buildWheel(home);
const python = skip ? '' : environmentWith(wheel, home);

const ask = (code: string, args: readonly string[] = []) =>
  JSON.parse(mustRun(python, ['-c', `import json, stepscope\n${code}`, ...args], elsewhere));

/** What calls raise: class, message, hint and code. */
const raised = (...calls: readonly string[]) =>
  ask(
    `import os, sys
def raised(call):
    try:
        exec(call)
    except stepscope.StepscopeError as error:
        return [type(error).__name__, *str(error).split("\\n"), error.code]
print(json.dumps([raised(call) for call in sys.argv[1:]]))`,
    calls,
  );

test('one version, and one license', () => {
  const source = readFileSync(path.join(projectRoot, 'python/stepscope/__init__.py'), 'utf8');
  assert.equal(/^__version__ = "(.+)"$/m.exec(source)?.[1], version);
});

test('the wheel is pure, has the engine, and has the same bytes when built again', { skip }, () => {
  assert.equal(path.basename(wheel), `stepscope-${version}-py3-none-any.whl`);
  const names = mustRun(python, ['-m', 'zipfile', '-l', wheel], elsewhere).match(/^\S+/gm)!;
  for (const needed of [
    'stepscope/__init__.py',
    'stepscope/py.typed',
    'stepscope/engine/bin/stepscope',
    ...['load-bundle', 'main', 'decode-worker', 'map-worker', 'part-worker'].map(
      name => `stepscope/engine/dist/cli/${name}.js`,
    ),
    'stepscope/engine/docs/schemas/compare.schema.json',
    'stepscope/engine/node_modules/chart.js/dist/chart.umd.js',
    `stepscope-${version}.dist-info/licenses/LICENSE`,
  ])
    assert.ok(names.includes(needed), needed);
  const isWrong = (name: string) =>
    /\.(node|so|dll|dylib|map)$|@duckdb|\/testing\/|\.d\.ts$|__pycache__/.test(name) ||
    !/^(File$|stepscope(\/|-[\d.]+\.dist-info\/))/.test(name);
  assert.deepEqual(names.filter(isWrong), []);
  assert.ok(readFileSync(wheel).equals(readFileSync(buildWheel(home))));
});

test('pandas, DuckDB, stats and analyze give the same sums', { skip }, async () => {
  const files = [capturePath('eager'), capturePath('graph', 'kineto.json.gz')];
  const found = ask(
    `import sys
def sums(file):
    profile = stepscope.open(file)
    profile.load("kernels", "api", "steps", "budget", "families")
    kernels, api = profile.kernels.df(), profile.api.df()
    return {
        "kernels": [int(kernels.durationNs.sum()), len(kernels)],
        "api": [int(api.durationNs.sum()), len(api)],
        "families": {name: int(ns) for name, ns in kernels.groupby("family").durationNs.sum().items()},
        "steps": [int(profile.steps.df().wallNs.sum()), len(profile.steps)],
        "budget": [int(profile.budget.df()[name].sum()) for name in ("wallNs", "computeNs", "idleNs")],
        "named": sorted(profile.families.df().family),
        "types": [str(profile.kernels.arrow().schema.field(name).type) for name in ("startNs", "durationNs", "rank", "name")],
        "origin": str(profile.origin_ns),
    }
print(json.dumps([sums(file) for file in sys.argv[1:]]))`,
    files,
  );
  for (const [i, file] of files.entries()) {
    const own = found[i];
    const rows = async (sql: string): Promise<unknown[][]> =>
      answerIn((await runStepscope(['sql', sql, file, '--json'])).out).rows.map(Object.values);
    const [kernels, api, ...families] = await rows(
      `SELECT 0, '', sum(durationNs), count(*) FROM kernels UNION ALL SELECT 1, '', sum(durationNs), count(*) FROM api
       UNION ALL SELECT 2, family, sum(durationNs), 0 FROM kernels GROUP BY ALL ORDER BY 1, 2`,
    );
    assert.deepEqual([kernels.slice(2), api.slice(2)], [own.kernels, own.api], file);
    assert.deepEqual(Object.fromEntries(families.map(row => row.slice(1, 3))), own.families, file);
    const only = 'iterations,step-budget,kernel-families';
    const answer = answerIn((await runStepscope(['analyze', file, '--only', only, '--json'])).out);
    const rowsOf = (id: string): Record<string, number>[] => answer.analyses[id].rows;
    const sum = (id: string, name: string) => rowsOf(id).reduce((all, row) => all + row[name], 0);
    assert.deepEqual(own.steps, [sum('iterations', 'wallNs'), rowsOf('iterations').length], file);
    const parts = ['wallNs', 'computeNs', 'idleNs'].map(name => sum('step-budget', name));
    assert.deepEqual(own.budget, parts, file);
    assert.deepEqual(
      own.named,
      rowsOf('kernel-families')
        .map(({ family }) => family)
        .sort(),
      file,
    );
    assert.deepEqual(own.types, ['int64', 'int64', 'int64', own.types[3]], file);
    assert.match(own.types[3], /^dictionary<values=string/);
    assert.equal(own.origin, answer.clock.originNs, file);
  }
  const stats = answerIn((await runStepscope(['stats', files[0], '-r', 'cuda_gpu_kern_sum', '--json'])).out);
  const total = stats.reports[0].rows.reduce(
    (all: number, row: Record<string, number>) => all + row['Total Time (ns)'],
    0,
  );
  assert.equal(total, found[0].kernels[0]);
});

test('every analysis has the rows of its JSON, and what is not recorded says how to record it', {
  skip,
}, async () => {
  const file = capturePath('moe-learned', 'kineto.json.gz');
  const ids = analyses.map(({ id }) => id);
  const answer = answerIn((await runStepscope(['analyze', file, '--only', ids.join(), '--json'])).out);
  const { tables, missing } = ask(
    `import sys
profile = stepscope.open(sys.argv[1])
def plain(value):
    return dict(value) if isinstance(value, list) else value
tables = {name: [{key: plain(value) for key, value in row.items()} for row in table.to_pylist()]
          for name, table in profile.load().items()}
missing = {name: [type(error).__name__, error.what, error.hint] for name, error in profile.missing().items()}
print(json.dumps({"tables": {name: rows for name, rows in tables.items() if name in sys.argv[2].split(",")}, "missing": missing}))`,
    [file, ids.map(id => id.replaceAll('-', '_')).join()],
  );
  let compared = 0;
  for (const { id, fields } of analyses) {
    const name = id.replaceAll('-', '_');
    const { status, rows, what, hint } = answer.analyses[id];
    if (status !== 'ok') {
      assert.deepEqual(missing[name], ['NotRecorded', what, `To record it: ${hint}`], id);
      continue;
    }
    assert.equal(tables[name].length, rows.length, id);
    for (const [r, row] of rows.entries())
      for (const [column, { kind }] of Object.entries(fields as Record<string, { kind: string }>)) {
        const said = row[column] ?? null;
        const expected = kind === 'list' && said !== null ? JSON.stringify(said) : said;
        assert.deepEqual(tables[name][r][column], expected, `${id} ${r} ${column}`);
        compared++;
      }
  }
  assert.ok(compared > 1000, `${compared} cells`);
});

test('every table has a name of its own, next to what a profile is', { skip }, () => {
  const own: string[] = ask('print(json.dumps([name for name in dir(stepscope.Profile) if name[0] != "_"]))');
  const names = profileTables.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.deepEqual(
    names.filter(name => own.includes(name)),
    [],
  );
  const listed = ask(
    'import sys\nprofile = stepscope.open(sys.argv[1])\nprint(json.dumps([list(profile.tables), "budget" in dir(profile), profile["step-budget"].columns["idleNs"]]))',
    [capturePath('graph')],
  );
  assert.deepEqual(
    listed[0],
    profileTables.map(({ name }) => name),
  );
  assert.equal(listed[1], true);
  assert.match(listed[2], /device/);
});

/** That the document is the command's, the test of the notebook shows. */
test('a comparison as tables has every value of its document', { skip }, () => {
  const files = [capturePath('eager'), capturePath('graph')];
  const { phases, terms, checks, types, document } = ask(
    `import sys
found = stepscope.compare(*sys.argv[1:])
print(json.dumps({"document": found.document, "phases": found.phases.arrow().to_pylist(), "terms": found.terms.arrow().to_pylist(),
    "checks": len(found.checks), "types": [str(found.terms.df().changeNs.dtype), str(found.phases.arrow().schema.field("noiseFloorNs").type)]}))`,
    files,
  );
  const [{ phases: expected, checks: checked }] = document.comparisons;
  assert.equal(checks, checked.length);
  assert.deepEqual(types, ['Int64', 'double']);
  for (const [i, phase] of expected.entries()) {
    assert.equal(phases[i]['to.meanNs'], phase.to.meanNs);
    assert.equal(phases[i].verdict, phase.verdict);
    assert.equal(phases[i]['interval95.lowNs'], phase.interval95.lowNs);
    assert.equal(phases[i].noiseFloorNs, phase.noiseFloorNs);
    const own = terms.filter((term: { phase: string }) => term.phase === phase.phase);
    assert.deepEqual(
      own.map(({ key, changeNs }: Record<string, unknown>) => [key, changeNs]),
      phase.terms.map(({ key, changeNs }: Record<string, unknown>) => [key, changeNs]),
    );
    const sum = own.reduce((all: number, { changeNs }: { changeNs: number }) => all + changeNs, 0);
    assert.equal(sum, phase.changeNs);
  }
});

test('texts, whole numbers and nulls arrive exactly, and a table without rows has its columns', {
  skip,
}, async () => {
  const texts = ["it's", '"quoted"', 'two\nlines', 'tab\tnul\0', '日本 𝄞', '', 'a,b;c'];
  const beyond = 2n ** 53n + 1n;
  const columns = [
    { name: 'text', type: 'text', content: { ids: [0, 1, 2, 3, 4, 5, -1], text: (id: number) => texts[id] } },
    { name: 'plain', type: 'text', content: texts },
    { name: 'ns', type: 'number', counted: true, content: [1, 2, 3, 4, 5, 2 ** 53 - 1, Number.NaN] },
    { name: 'half', type: 'number', counted: true, content: [0.5, 1, 2, 3, 4, 5, null] },
    { name: 'big', type: 'whole', content: [beyond, -beyond, 0n, null, 1, 2, 3] },
    { name: 'row', type: 'whole', content: Int32Array.of(0, -1, 2, 3, 4, 5, 6) },
    { name: 'flag', type: 'flag', content: [true, false, null, undefined, true, true, false] },
    { name: 'map', type: 'map', content: [{ "a'b": 1 }, {}, null, undefined, { x: null }, {}, {}] },
    { name: 'absent', type: 'whole', content: undefined },
  ] as const;
  const full = path.join(home, 'full.arrow');
  const empty = path.join(home, 'empty.arrow');
  writeFileSync(full, (await arrowTable(columns, 7, 'file')).bytes);
  const none = columns.map(column => ({ ...column, content: [] }));
  none[0] = { ...none[0], content: { ids: [], text: String } } as never;
  writeFileSync(empty, (await arrowTable(none, 0, 'file')).bytes);
  const read = ask(
    `import sys, pyarrow.ipc
from stepscope._tables import to_pandas
def table(file):
    found = pyarrow.ipc.open_file(file).read_all()
    found.validate(full=True)
    return found
full, empty = map(table, sys.argv[1:])
frame = to_pandas(full)
print(json.dumps({"rows": {name: [str(x) if name == "big" and x is not None else x for x in full[name].to_pylist()] for name in full.column_names},
    "types": [str(kind) for kind in full.schema.types], "none": [empty.num_rows, [str(kind) for kind in empty.schema.types]],
    "frame": [str(frame.big[0]), str(frame.big.dtype), str(frame.ns.dtype), str(frame.half.dtype), frame.text.isna().sum().item(), frame["map"][0]]}))`,
    [full, empty],
  );
  assert.deepEqual(read.rows.text, [...texts.slice(0, 6), null]);
  assert.deepEqual(read.rows.plain, texts);
  assert.deepEqual(read.rows.ns, [1, 2, 3, 4, 5, 2 ** 53 - 1, null]);
  assert.deepEqual(read.rows.half, [0.5, 1, 2, 3, 4, 5, null]);
  assert.deepEqual(read.rows.big, [String(beyond), String(-beyond), '0', null, '1', '2', '3']);
  assert.deepEqual(read.rows.row, [0, null, 2, 3, 4, 5, 6]);
  assert.deepEqual(read.rows.flag, [true, false, null, null, true, true, false]);
  assert.deepEqual(read.rows.map, [[["a'b", 1]], [], null, null, [['x', null]], [], []]);
  assert.deepEqual(read.rows.absent, [null, null, null, null, null, null, null]);
  assert.deepEqual(read.types.slice(2, 7), ['int64', 'double', 'int64', 'int64', 'bool']);
  assert.equal(read.none[0], 0);
  // Without rows, fractions cannot occur.
  assert.deepEqual(read.none[1], read.types.with(3, 'int64'));
  assert.deepEqual(read.frame, [String(beyond), 'Int64', 'Int64', 'float64', 1, { "a'b": 1 }]);
});

test('what is wrong is said in two lines: files, options, Node', { skip }, () => {
  const odd = path.join(elsewhere, '-"odd"\nSELECT 1.sqlite.gz');
  copyFileSync(capturePath('graph'), odd);
  writeFileSync(path.join(elsewhere, 'cut.sqlite.gz'), readFileSync(capturePath('graph')).subarray(0, 5000));
  writeFileSync(path.join(elsewhere, 'text.sqlite'), 'no profile');
  const cases: [string, (string | RegExp)[]][] = [
    [
      `raise stepscope.StepscopeError(str(len(stepscope.open(${JSON.stringify(path.basename(odd))}).steps)), "rows")`,
      ['StepscopeError', '9', 'rows', 'failed'],
    ],
    [
      'stepscope.open("not there.sqlite")',
      ['NotFound', 'not there.sqlite does not exist.', /path/, 'not-found'],
    ],
    ['stepscope.open([])', ['StepscopeError', 'No profile was given.', /open/, 'usage']],
    ['stepscope.open("text.sqlite").kernels.df()', ['StepscopeError', /text\.sqlite/, /./, 'not-a-profile']],
    ['stepscope.open("cut.sqlite.gz").kernels.df()', ['StepscopeError', /no readable table/, /./, 'damaged']],
    [
      'stepscope.open("text.sqlite", nonsense=1).kernels.df()',
      ['StepscopeError', /--nonsense/, /./, 'usage'],
    ],
    ['stepscope.compare("text.sqlite", ["a,b"])', ['NotFound', 'a,b does not exist.', /./, 'not-found']],
  ];
  const all = raised(...cases.map(([call]) => call));
  for (const [c, [call, expected]] of cases.entries()) {
    const found = all[c];
    assert.equal(found?.length, 4, `${call}: ${found}`);
    for (const [i, part] of expected.entries())
      if (typeof part === 'string') assert.equal(found[i], part, call);
      else assert.match(found[i], part, call);
  }
  const old = path.join(home, 'old-node');
  writeFileSync(old, '#!/bin/sh\necho v18.19.1\n', { mode: 0o755 });
  const how =
    'Install it (https://nodejs.org, or pip install "stepscope[node]"), or set STEPSCOPE_NODE to its path.';
  const because = (what: string) => [
    ...['EngineMissing', `Stepscope needs Node.js 20 or newer${what}`, how, 'failed'],
  ];
  const withVariable = (name: string, value: string) =>
    `os.environ[${JSON.stringify(name)}] = ${JSON.stringify(value)}; stepscope.open("text.sqlite").kernels.df()`;
  assert.deepEqual(
    raised(
      withVariable('STEPSCOPE_NODE', old),
      withVariable('STEPSCOPE_NODE', '/nowhere/node'),
      `os.environ.pop("STEPSCOPE_NODE"); ${withVariable('PATH', '/nowhere')}`,
    ),
    [
      because(`; ${old} is v18.19.1.`),
      because('; /nowhere/node does not run as Node.js.'),
      because(', and no node is on PATH.'),
    ],
  );
});

test('stepscope and python -m stepscope are the command line', { skip }, () => {
  const script = path.join(path.dirname(python), 'stepscope');
  assert.equal(mustRun(script, ['--version'], elsewhere), `stepscope ${version}\n`);
  // Threads of the bundle, without the compiled sources next to it.
  const files = [capturePath('graph'), capturePath('gc')];
  mustRun(script, ['fleet', 'map', ...files, '--out', 'lake', '--workers', '2'], elsewhere);
  const { status, stderr } = runProgram(python, ['-m', 'stepscope', 'info', 'not there'], elsewhere);
  assert.equal(status, 3);
  assert.match(stderr, /^stepscope: .*not there/);
  const without = runProgram(script, ['--version'], elsewhere, { STEPSCOPE_NODE: '/nowhere' });
  assert.deepEqual([without.status, without.stderr.split('\n').length], [3, 3]);
});

test('ruff and mypy find nothing in it', { skip: lacks('ruff', 'mypy') }, () => {
  const folder = path.join(projectRoot, 'python');
  const RUFF_CACHE_DIR = path.join(home, 'ruff');
  mustRun(locate('ruff')!, ['check', '.'], folder, { RUFF_CACHE_DIR });
  mustRun(locate('ruff')!, ['format', '--check', '.'], folder, { RUFF_CACHE_DIR });
  mustRun(locate('mypy')!, ['--cache-dir', path.join(home, 'mypy')], folder);
});
