/** What a test run says last: groups of skipped tests with what brings them, and what continuous integration may skip. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closingLines } from './closing-lines.js';
import { resultOf, type TestResult } from './results-reporter.js';

const ran = (outcome: TestResult['outcome'], reason?: string): TestResult => ({
  name: 'x',
  file: 'x.test.js',
  outcome,
  reason,
});

test('skipped tests are grouped by what they need, largest group first, with the command that brings it', () => {
  const { lines } = closingLines([
    ran('passed'),
    ran('skipped', 'needs openssl'),
    ran('skipped', 'needs Chromium'),
    ran('skipped', 'needs Chromium'),
    ran('skipped', 'some other words'),
    ran('failed'),
  ]);
  assert.deepEqual(lines, [
    'Skipped, because something is missing here:',
    '  2 tests need Chromium\n    → scripts/install-test-tools.sh, or set CHROMIUM to the path of a browser',
    '  1 test needs openssl\n    → scripts/install-test-tools.sh',
    '  1 test: some other words',
    '',
    '1 passed, 1 failed, 4 skipped',
  ]);
});

test('a skip is excused only by its need', () => {
  const results = [ran('skipped', 'needs openssl'), ran('skipped', 'needs Chromium'), ran('skipped', '')];
  assert.deepEqual(closingLines(results, [], { openssl: 'tried by hand' }).unexcused, ['needs Chromium', '']);
  assert.deepEqual(closingLines([ran('passed')]).unexcused, []);
});

test('a file that ran again alone counts as it ended then, and what had failed before is named', () => {
  const other = { ...ran('passed'), file: 'y.test.js' };
  const steady = { ...ran('passed'), name: 'z' };
  const mended = closingLines([ran('failed'), steady, other], [ran('passed'), steady]);
  assert.deepEqual(mended.lines, [
    'Failed beside other tests, passed alone: x',
    '3 passed, 0 failed, 0 skipped',
  ]);
  const broken = closingLines([ran('failed'), steady, other], [ran('failed'), steady]);
  assert.deepEqual(broken.lines, ['2 passed, 1 failed, 0 skipped']);
  assert.equal(broken.failed, 1);
  // A helper's name stands for several files: what did not run again counts as before.
  const elsewhere = closingLines([{ ...ran('failed'), name: 'w' }, ran('failed')], [ran('passed')]);
  assert.equal(elsewhere.failed, 1);
});

test('events of the runner become results: suites do not count, a test to be written did not run', () => {
  const event = (type: string, data: object) => resultOf({ type, data: { name: 'x', file: 'f', ...data } });
  assert.equal(event('test:pass', { details: { type: 'suite' } }), undefined);
  assert.equal(event('test:start', {}), undefined);
  assert.equal(event('test:pass', {})?.outcome, 'passed');
  assert.equal(event('test:fail', {})?.outcome, 'failed');
  assert.deepEqual(event('test:pass', { skip: 'needs x' })?.reason, 'needs x');
  assert.equal(event('test:pass', { skip: true })?.outcome, 'skipped');
  assert.equal(event('test:fail', { todo: true })?.outcome, 'skipped');
});
