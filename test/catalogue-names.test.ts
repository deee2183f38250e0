/** Engines and profilers are known by name in the catalogue alone: elsewhere code asks it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presetNames } from '../src/catalog/engine-programs.js';
import { packagedEngines } from '../src/catalog/engines.js';
import { profilers } from '../src/catalog/profilers.js';
import { sources } from './source-files.js';

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const namesOf = (names: readonly string[]) => new RegExp(names.map(escaped).join('|'), 'i');
const engineNames = namesOf([
  ...packagedEngines.flatMap(engine => [engine.label, engine.package]),
  ...presetNames.filter(name => name.includes('-')),
  'TLLM_',
]);
const { nsys, kineto } = profilers;
const profilerNames = namesOf([nsys.label, nsys.short, kineto.label, 'kineto']);

interface Exception {
  readonly files: RegExp;
  readonly names: 'engines' | 'profilers' | 'both';
  readonly because: string;
}

const exceptions: readonly Exception[] = [
  { files: /^src\/(catalog|testing)\//, names: 'both', because: 'the catalogue itself, and what tests draw' },
  { files: /^src\/import\//, names: 'both', because: 'an importer names the format it reads' },
  {
    files: /^src\/redact\//,
    names: 'profilers',
    because: 'rewrites the files of each profiler by its rules',
  },
  {
    files: /^src\/redact\/(identities|known-|allowed-|scrub-text)/,
    names: 'engines',
    because: 'lists of words that give nobody away',
  },
  { files: /^src\/capture\//, names: 'profilers', because: 'plans and starts nsys' },
  { files: /^src\/capture\/engine-/, names: 'engines', because: 'builds the command line of one engine' },
  {
    files: /^src\/capture\/(checks|dataset|judge-capture|launchers|plan-capture)\.ts/,
    names: 'engines',
    because: 'says what the user should type',
  },
  { files: /^src\/cli\//, names: 'both', because: 'help and hints show commands as users type them' },
  { files: /^src\/base\/(sqlite\/|user-error)/, names: 'profilers', because: 'damage needs its hint' },
  { files: /^src\/model\/profile\.ts/, names: 'profilers', because: 'declares the ids' },
  {
    files: /^src\/moe\/(experiment|placement)\//,
    names: 'engines',
    because: 'switches and files of engines',
  },
  {
    files: /^src\/load\/dataset-prompts\.ts/,
    names: 'engines',
    because: 'the format has the name of its tool',
  },
  { files: /^src\/compare\/frameworks\/init-config\.ts/, names: 'both', because: 'a sample for the user' },
];

/** Comments, strings, templates and regular expressions; what stands between is code. */
const token =
  /\/\*[\s\S]*?\*\/|\/\/.*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|(?<=[(,=:[!&|?{};\n ])\/(?![*/ ])(?:[^/\\\n[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[a-z]*/g;

function literalsOf(text: string): string[] {
  const code = text.replace(/^ *(?:import|export)\b[^;]*?from '[^']+';|\bimport\('[^']+'\)/gm, '');
  return [...code.matchAll(token)]
    .filter(({ 0: literal, index }) => {
      const isKey = /^\s*:/.test(code.slice(index + literal.length)) && /[{,]\s*$/.test(code.slice(0, index));
      return !literal.startsWith('//') && !literal.startsWith('/*') && !isKey;
    })
    .map(match => match[0].replace(/\$\{[^}]*\}/g, '…'));
}

test('the scan finds names in strings, templates and patterns, and none in comments, keys and imports', () => {
  const text = `
    import { a } from '../vllm.js';
    // vLLM
    const one = { 'vllm': 1, b: 'vllm serve' };
    /* SGLang */ const two = \`with sglang\`, three = /^vllm/.test(x);
  `;
  assert.deepEqual(
    literalsOf(text).filter(literal => engineNames.test(literal)),
    ["'vllm serve'", '`with sglang`', '/^vllm/'],
  );
});

test('no engine or profiler is named outside the catalogue', () => {
  const wrong: string[] = [];
  const used = new Set<Exception>();
  for (const { name, text } of sources) {
    for (const [kind, names] of [
      ['engines', engineNames],
      ['profilers', profilerNames],
    ] as const) {
      const found = literalsOf(text).filter(literal => names.test(literal));
      if (found.length === 0) continue;
      const exception = exceptions.find(
        one => one.files.test(name) && (one.names === kind || one.names === 'both'),
      );
      if (exception) used.add(exception);
      else wrong.push(...found.map(literal => `${name}: ${literal}`));
    }
  }
  assert.deepEqual(wrong, []);
  assert.deepEqual(
    exceptions.filter(one => !used.has(one)).map(({ files }) => String(files)),
    [],
    'an exception nobody needs',
  );
});
