/**
 * A small trace changed at random, thousands of times. Whatever comes out is a sound Profile or a UserError in two
 * lines; nothing else, and quickly. FUZZ_ROUNDS and FUZZ_SEED change how much and what.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import * as path from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { UserError } from '../src/base/user-error.js';
import { openProfile } from '../src/import/open.js';
import { capturePath, readText } from '../src/testing/captures.js';
import { validateProfile } from '../src/testing/validate-profile.js';

const ROUNDS = Number(process.env.FUZZ_ROUNDS ?? 500);
const SEED = Number(process.env.FUZZ_SEED ?? 20261115);
const SLOW_MS = 2000;

const folder = mkdtempSync(path.join(tmpdir(), 'stepscope-fuzz-'));
after(() => rmSync(folder, { recursive: true }));

/** A few events of every category of a real trace, its metadata, and the shapes it does not have. */
function smallTrace(): Uint8Array {
  const trace = JSON.parse(readText(capturePath('graph', 'kineto.json.gz'))) as {
    traceEvents: { ph: string; cat?: string; name: string }[];
  };
  const perKind = new Map<string, number>();
  const few = trace.traceEvents.filter(event => {
    const kind = `${event.ph} ${event.cat} ${event.ph === 'M' ? event.name : ''}`;
    perKind.set(kind, (perKind.get(kind) ?? 0) + 1);
    return perKind.get(kind)! <= 3;
  });
  const odd = [
    { ph: 'B', cat: 'cpu_op', name: 'begun', pid: 1, tid: 1, ts: 5 },
    { ph: 'E', cat: 'cpu_op', name: 'begun', pid: 1, tid: 1, ts: 9.5 },
    {
      ph: 'i',
      name: '[memory]',
      pid: 1,
      tid: 1,
      ts: 6,
      args: { Bytes: -4, 'Device Type': 1, 'Device Id': 0 },
    },
    {
      ph: 'X',
      cat: 'python_function',
      name: 'é\u0001"\\',
      pid: 1,
      tid: 1,
      ts: 7,
      dur: 0.25,
      args: { 'Python id': 3 },
    },
  ];
  return new TextEncoder().encode(JSON.stringify({ ...trace, traceEvents: [...few, ...odd] }));
}

/** Pieces that mean something to a JSON reader, put where they do not belong. */
const pieces = [
  '"',
  '\\',
  '\\u12',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '-',
  '1e999',
  '1e-9',
  '"ts":',
  '"dur":-5,',
  '\0',
  '\xff',
  '99999999999999999999',
];

function mutate(bytes: Uint8Array, random: () => number): Uint8Array {
  let out: Uint8Array = Uint8Array.from(bytes);
  const changes = 1 + Math.floor(random() * 4);
  for (let n = 0; n < changes; n++) {
    const at = Math.floor(random() * out.length);
    const length = Math.floor(random() ** 3 * 200);
    const kind = Math.floor(random() * 6);
    if (kind === 0) out[at] = Math.floor(random() * 256);
    else if (kind === 1) out[at] ^= 1 << Math.floor(random() * 8);
    else if (kind === 2) out = join(out.subarray(0, at), out.subarray(at + length));
    else if (kind === 3) out = join(out.subarray(0, at), out.subarray(at, at + length), out.subarray(at));
    else if (kind === 4) {
      const piece = pieces[Math.floor(random() * pieces.length)];
      out = join(
        out.subarray(0, at),
        Uint8Array.from(piece, c => c.charCodeAt(0)),
        out.subarray(at),
      );
    } else if (random() < 0.3) out = out.subarray(0, at);
    if (out.length === 0) return Uint8Array.of(0x7b);
  }
  return out;
}

function join(...parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

test(`a trace changed at random, ${ROUNDS} times`, async () => {
  let state = SEED;
  const random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  const original = smallTrace();
  const file = path.join(folder, 'trace.json');
  let opened = 0;
  let refused = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = mutate(original, random);
    writeFileSync(file, round % 10 === 0 ? gzipSync(bytes) : bytes);
    const begun = performance.now();
    try {
      const profile = await openProfile([file]);
      assert.deepEqual(validateProfile(profile), []);
      opened++;
    } catch (error) {
      if (!(error instanceof UserError)) {
        writeFileSync(path.join(tmpdir(), 'stepscope-fuzz-failure.json'), bytes);
        throw new Error(`round ${round} of seed ${SEED} (kept in ${tmpdir()})`, { cause: error });
      }
      assert.ok(error.message !== '' && error.hint !== '' && !error.message.includes('\n'));
      refused++;
    }
    assert.ok(performance.now() - begun < SLOW_MS, `round ${round} took too long`);
  }
  // Both outcomes must occur, or the mutations say nothing.
  assert.ok(opened > ROUNDS / 4 && refused > 0, `${opened} opened, ${refused} refused`);
});
