/** Asks a program something: no shell, a time limit, and a missing program is an answer, not an error. */
import { execFile } from 'node:child_process';

interface Answer {
  readonly found: boolean;
  readonly ok: boolean;
  readonly stdout: string;
}

type Probe = (program: string, args: readonly string[]) => Promise<Answer>;

const TIMEOUT_MS = 10_000;
const MOST_BYTES = 1 << 20;

export function probeWith(env: NodeJS.ProcessEnv, timeoutMs = TIMEOUT_MS): Probe {
  return (program, args) =>
    new Promise(resolve => {
      execFile(
        program,
        [...args],
        { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MOST_BYTES, windowsHide: true },
        (error, stdout) => {
          const code = (error as NodeJS.ErrnoException | null)?.code;
          resolve({
            found: code !== 'ENOENT' && code !== 'EACCES',
            ok: error === null,
            stdout: String(stdout),
          });
        },
      );
    });
}

/** Versions from package metadata: importing an engine would take minutes and a GPU. */
const VERSIONS = `
import importlib.metadata as m, json, platform, sys
out = {"python": platform.python_version()}
for name in sys.argv[1:]:
    try: out[name] = m.version(name)
    except m.PackageNotFoundError: pass
print(json.dumps(out))
`;

import { packagedEngines } from '../catalog/engines.js';

const packages = [
  'torch',
  ...packagedEngines.map(engine => engine.package),
  'flashinfer-python',
  'transformers',
  'nvtx',
];

/** Undefined without Python; a package that is not there is not in it. */
export async function pythonVersions(probe: Probe): Promise<Record<string, string> | undefined> {
  for (const python of ['python3', 'python']) {
    const { ok, stdout } = await probe(python, ['-c', VERSIONS, ...packages]);
    if (!ok) continue;
    try {
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, string>;
    } catch {
      // A wrapper that prints something else.
    }
  }
  return undefined;
}
