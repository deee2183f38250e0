/** A trace is copied only if it is JSON by the letter: `JSON.parse` is the judge, on small damage at every byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../src/base/user-error.js';
import { Identities } from '../src/redact/identities.js';
import { Removals } from '../src/redact/removals.js';
import { TraceRewriter } from '../src/redact/rewrite-trace.js';
import { TraceRules } from '../src/redact/trace-rules.js';

const listed =
  '{"schemaVersion": 1, "deviceProperties": [{"id": -0.5e+3}], "traceEvents": [\n{"ph":"X","cat":"kernel","name":"a\\u00e9\\n","ts":1.5,"args":{"ok":true,"n":null}} ,{"ph":"i"}], "traceName":"x"}\n';
const bare = '[{"ph":"X","ts":10},{"a":[1,[]]}]';
const empty = '{"traceEvents":[]}';

function isAccepted(bytes: Uint8Array, chunk: number): boolean {
  const rewriter = new TraceRewriter(new TraceRules(new Identities(), new Removals(), false), () => {});
  try {
    for (let at = 0; at < bytes.length; at += chunk) rewriter.append(bytes.subarray(at, at + chunk));
    rewriter.finish();
    return true;
  } catch (error) {
    assert.ok(error instanceof UserError, String(error));
    return false;
  }
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** JSON, with lists of objects where events are expected; what else a value is does not matter. */
function isTrace(text: string): boolean {
  try {
    const value = JSON.parse(text);
    if (Array.isArray(value)) return value.every(isObject);
    const events = isObject(value) ? value.traceEvents : undefined;
    return isObject(value) && (!Array.isArray(events) || events.every(isObject));
  } catch {
    return false;
  }
}

const replacements = [...',:"\\{}]0-.en \t\u0000\u000b'];

test('every byte removed, doubled or replaced: accepted exactly if it is JSON', () => {
  let accepted = 0;
  let refused = 0;
  for (const text of [listed, bare, empty]) {
    for (let at = 0; at <= text.length; at++) {
      const behind = text.slice(at + 1);
      const changed = [
        text.slice(0, at),
        text.slice(0, at) + behind,
        text.slice(0, at) + text[at] + text.slice(at),
      ];
      for (const sign of replacements)
        changed.push(text.slice(0, at) + sign + behind, text.slice(0, at) + sign + text.slice(at));
      for (const one of changed) {
        const bytes = new TextEncoder().encode(one);
        const wanted = isTrace(one);
        const chunk = [1, 5, 1000][(accepted + refused) % 3];
        assert.equal(isAccepted(bytes, chunk), wanted, `${JSON.stringify(one)} in chunks of ${chunk}`);
        if (wanted) accepted++;
        else refused++;
      }
    }
  }
  assert.ok(accepted > 500 && refused > 5000, `${accepted} accepted, ${refused} refused`);
});

test('a byte order mark may come first, whole and once', () => {
  const mark = [0xef, 0xbb, 0xbf];
  const body = [...new TextEncoder().encode(bare)];
  for (const chunk of [1, 100]) {
    assert.ok(isAccepted(Uint8Array.from([...mark, ...body]), chunk));
    for (const wrong of [mark.slice(0, 2), mark.slice(1), [...mark, ...mark], [0x20, ...mark]])
      assert.ok(!isAccepted(Uint8Array.from([...wrong, ...body]), chunk), String(wrong));
  }
});
