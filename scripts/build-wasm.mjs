// Compiles the event scanner (wasm/event-scanner.ts) and writes it as text into a module: one file less to be found by
// the command, by its bundle and by the Python package. What is there already stays when nothing has changed.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = 'wasm/event-scanner.ts';
const target = path.join(root, 'src/import/kineto-json/events/scanner-code.ts');

const settings = ['--runtime', 'stub', '--noAssert', '--importMemory', '--use', 'abort=', '--enable', 'simd'];
const fastest = ['--optimizeLevel', '3', '--shrinkLevel', '0'];
let code;
const { error, stderr } = await main([source, '--outFile', 'scanner.wasm', ...settings, ...fastest], {
  readFile: (name, base) => {
    const file = path.join(root, base, name);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
  },
  writeFile: (_name, contents) => {
    code = contents;
  },
});
if (error) {
  process.stderr.write(stderr.toString());
  process.exit(1);
}
const text = `// Written by scripts/build-wasm.mjs from ${source}.
export const scannerCode =
  '${Buffer.from(code).toString('base64')}';
`;
fs.mkdirSync(path.dirname(target), { recursive: true });
if (!fs.existsSync(target) || fs.readFileSync(target, 'utf8') !== text) fs.writeFileSync(target, text);
