// Compiles what is in wasm/ and writes each program as text into a module: fewer files to be found by the command, by its
// bundle and by the Python package. What is there already stays when nothing has changed.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const root = fileURLToPath(new URL('..', import.meta.url));
const programs = [
  {
    source: 'wasm/event-scanner.ts',
    target: 'src/import/kineto-json/events/scanner-code.ts',
    name: 'scannerCode',
  },
  { source: 'wasm/row-scanner.ts', target: 'src/base/sqlite/row-scanner-code.ts', name: 'rowScannerCode' },
];

const settings = ['--runtime', 'stub', '--noAssert', '--importMemory', '--use', 'abort=', '--enable', 'simd'];
const fastest = ['--optimizeLevel', '3', '--shrinkLevel', '0'];

for (const { source, target, name } of programs) {
  const text = `// Written by scripts/build-wasm.mjs from ${source}.
export const ${name} =
  '${Buffer.from(await compile(source)).toString('base64')}';
`;
  const file = path.join(root, target);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) fs.writeFileSync(file, text);
}

async function compile(source) {
  let code;
  const { error, stderr } = await main([source, '--outFile', 'out.wasm', ...settings, ...fastest], {
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
  return code;
}
