/** Policies as people write them: what is read, and how each mistake is told. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { parseGatePolicy } from '../src/gate/policy.js';
import { formatDifference, formatRelative, readBound, readChange } from '../src/gate/quantity.js';
import { capturePath } from '../src/testing/captures.js';
import { runStepscope as stepscope } from './run-stepscope.js';

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-policy-'));
after(() => rmSync(folder, { recursive: true }));
const policyOf = (text: string) => parseGatePolicy(text, 'policy.yaml');

/** No measure of speed: what takes this long never ends. */
const HANGS_MS = 60_000;

test('mistakes in a policy are told with line, column, text and what was meant', () => {
  const cases: readonly (readonly [text: string, message: RegExp, hint: RegExp])[] = [
    [
      'limits:\n  - metric: step.p50\n    max_increse: 3%\n',
      /^policy\.yaml:3:5: a limit has an unknown key "max_increse"/,
      /Did you mean "max_increase"\? Line 3 reads: max_increse: 3%/,
    ],
    [
      'limits:\n\n  - metric: setp.p50\n    max: 3ms\n',
      /:3:13: unknown metric "setp\.p50"/,
      /Did you mean step\.p50\?/,
    ],
    ['limits:\n  - metric: family.gemm.ns\n    max: 3ms\n', /:2:13:/, /Did you mean family\.gemm\?/],
    ['limits:\n  - metric: ttft.p98\n    max: 3ms\n', /:2:13:/, /ttft\.p9/],
    [
      'limits:\n  - metric: step.p50\n    max: 5\n',
      /:3:10: "5" is not a valid max for step\.p50/,
      /250us, 5ms/,
    ],
    ['limits:\n  - metric: step.p50\n    max: 5GB\n', /:3:10:/, /with its unit/],
    ['limits:\n  - metric: idle\n    max: 12\n', /:3:10:/, /12%/],
    ['limits:\n  - metric: idle\n    max_increase: 1ms\n', /:3:19:/, /2pp/],
    ['limits:\n  - metric: idle\n    max: -3%\n', /:3:10:/, /not be negative/],
    ['limits:\n  - metric: idle\n', /:2:5: the limit on idle has no bound/, /max_increase/],
    ['limits:\n  - max: 3%\n', /:2:5: a limit needs "metric"/, /step\.p50/],
    ['limits:\n  - metric: idle\n    max:\n', /:3:5: "max" has no value/, /Line 3/],
    [
      'limits:\n  - metric: idle\n    max: 1%\n    max: 2%\n',
      /:4:5: this is not valid YAML: map keys must be unique/,
      /max: 2%/,
    ],
    ['limits:\n  - metric: memory.peak\n    phase: decode\n    max: 1GB\n', /:3:5:/, /Remove "phase"/],
    [
      'limits:\n  - {metric: idle, max: 3%, severity: wran}\n',
      /:2:39: "wran" is not a valid severity/,
      /Did you mean warn\?/,
    ],
    ['limits:\n  - {metric: idle, max: 3%, phase: decod}\n', /:2:36: "decod" is not a valid phase/, /decode/],
    ['limits: 3\n', /:1:9: "limits" must be a list/, /"- "/],
    ['limits: []\n', /:1:1: "limits" must have 1 to/, /limits/],
    ['limit:\n  - metric: idle\n', /:1:1: a policy has an unknown key "limit"/, /Did you mean "limits"\?/],
    ['baseline: main\n', /:1:1: a policy needs "limits"/, /list of metrics/],
    ['version: 2\nlimits: [{metric: idle, max: 3%}]\n', /:1:10: this is version "2"/, /version 1/],
    [
      'confidence: 400%\nlimits: [{metric: idle, max: 3%}]\n',
      /:1:13: "400%" is not a confidence level/,
      /95%/,
    ],
    [
      'allow_different: [gpuu]\nlimits: [{metric: idle, max: 3%}]\n',
      /:1:19: "gpuu" is not a valid difference/,
      /gpu/,
    ],
    ['limits:\n  - metric: idle\n   max: 3%\n', /:3:\d+:/, /Line 3/],
    ['limits: [\n', /:\d+:\d+:/, /./],
    ['', /:1:1: a policy must be a map/, /./],
    ['just words\n', /:1:1: a policy must be a map/, /just words/],
    ['limits: [{metric: idle, max: 3%}]\n---\nlimits: []\n', /:2:1: a second document starts here/, /./],
  ];
  for (const [text, message, hint] of cases) {
    assert.throws(
      () => policyOf(text),
      error => {
        assert.ok(error instanceof UserError, `${text}: ${error}`);
        assert.match(error.message, message, text);
        assert.match(error.hint, hint, text);
        assert.ok(!error.message.includes('\n') && !error.hint.includes('\n'));
        return true;
      },
    );
  }
});

test('no policy makes the reader explode: bombs, tags, depth and size are refused at once', async () => {
  const bomb = `a: &a [x, x]\n${[...'bcdefghijklmnop'].map((name, i) => `${name}: &${name} [*${'abcdefghijklmno'[i]}, *${'abcdefghijklmno'[i]}]`).join('\n')}\nlimits: *p\n`;
  const hostile: readonly (readonly [string, RegExp])[] = [
    [bomb, /has an unknown key "a"/],
    [`limits:\n  - &x {metric: idle, max: 3%}\n${'  - *x\n'.repeat(60)}`, /:53:5: more than 50 aliases/],
    ['limits: &a [*a]\n', /a limit must be a map/],
    ['limits: *nothing\n', /alias is undefined/],
    ['limits: !!js/function "x"\n', /tags such as/],
    ['limits:\n  - {metric: !secret idle, max: 3%}\n', /tags such as "!secret"/],
    ['[ '.repeat(100_000), /nested too deeply/],
    [`limits:\n${'[\n#]\n'.repeat(5000)}`, /nested too deeply/],
    ['- '.repeat(50_000), /nested too deeply/],
    ['? '.repeat(50_000), /nested too deeply/],
    [Array.from({ length: 600 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), /nested too deeply/],
    [`limits:\n${'  # nothing\n'.repeat(30_000)}`, /too large/],
    ['\u0000\u0001', /must be a map/],
  ];
  for (const [text, message] of hostile) {
    const begun = performance.now();
    assert.throws(
      () => policyOf(text),
      error => error instanceof UserError && message.test(error.message),
      text.slice(0, 40),
    );
    assert.ok(performance.now() - begun < HANGS_MS, text.slice(0, 40));
  }
  assert.equal(
    policyOf(`limits:\n  - &x {metric: idle, max: 3%}\n${'  - *x\n'.repeat(20)}`).limits.length,
    21,
  );
  const huge = path.join(folder, 'huge.yaml');
  writeFileSync(huge, `limits:\n${'#'.repeat(2_000_000)}\n`);
  const { status, err } = await stepscope(['check', capturePath('graph'), '--policy', huge]);
  assert.equal(status, 3);
  assert.match(err, /too large/);
});

test('amounts are read in the unit of the metric', () => {
  assert.equal(readBound('5ms', 'ns'), 5e6);
  assert.equal(readBound('1.5 s', 'ns'), 1.5e9);
  assert.equal(readBound('250us', 'ns'), 250e3);
  assert.equal(readBound('12%', 'share'), 0.12);
  assert.equal(readBound('0.9', 'share'), 0.9);
  assert.equal(readBound('16GiB', 'bytes'), 16 * 2 ** 30);
  assert.equal(readBound('1_200/s', 'per-second'), 1200);
  assert.deepEqual(readChange('3%', 'ns'), { kind: 'relative', value: 0.03 });
  assert.deepEqual(readChange('200us', 'ns'), { kind: 'absolute', value: 200e3 });
  assert.deepEqual(readChange('2pp', 'share'), { kind: 'absolute', value: 0.02 });
  assert.deepEqual(readChange('2', 'count'), { kind: 'absolute', value: 2 });
  for (const [text, unit] of [
    ['5 parsecs', 'ns'],
    ['', 'ns'],
    ['0x10ms', 'ns'],
    ['1e999ms', 'ns'],
    ['toString', 'count'],
    ['5constructor', 'bytes'],
  ] as const)
    assert.ok(typeof readBound(text, unit) === 'object', text);
  assert.equal(formatRelative(0.0421), '+4.2%');
  assert.equal(formatDifference(-0.02, 'share'), '−2.0 pp');
});

test('a limit that can only stop improvements is remarked on', () => {
  const policy = policyOf('limits:\n  - {metric: throughput.output, max_increase: 3%}\n');
  assert.match(
    policy.warnings.join(),
    /throughput\.output is better when higher: max_increase blocks improvements/,
  );
});
