// Compiles what is written in AssemblyScript (wasm/) and writes each module as text into one of ours: one file less to be
// found by the command, by its bundle and by the Python package. What is there already stays when nothing has changed.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = [
  {
    source: 'wasm/event-scanner.ts',
    name: 'scannerCode',
    target: 'src/import/kineto-json/events/scanner-code.ts',
  },
  { source: 'wasm/row-scanner.ts', name: 'rowScannerCode', target: 'src/base/sqlite/row-scanner-code.ts' },
];
const settings = ['--runtime', 'stub', '--noAssert', '--importMemory', '--use', 'abort=', '--enable', 'simd'];
const fastest = ['--optimizeLevel', '3', '--shrinkLevel', '0'];

for (const { source, name, target } of modules) {
  const file = path.join(root, target);
  const text = `// Written by scripts/build-wasm.mjs from ${source}.
export const ${name} =
  '${Buffer.from(await compiled(source)).toString('base64')}';
`;
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
}

async function compiled(source) {
  let code;
  const { error, stderr } = await main([source, '--outFile', 'module.wasm', ...settings, ...fastest], {
    readFile: (name, base) => {
      const file = path.join(root, base, name);
      return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
    },
    writeFile: (_name, contents) => {
      code = contents;
    },
  });
  if (!error) return code;
  process.stderr.write(stderr.toString());
  process.exit(1);
}
