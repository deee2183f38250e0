/** Where the file of a Python function belongs: profilers write it as the program found it, relative to a package or not. */

/** Folders that packages lie in: of an environment, of Python itself, of a source tree. */
const IN_PACKAGES = /^.*\/(?:site-packages|dist-packages|python3\.\d+)\//;
const IN_SOURCES = /^(?:.*\/)?(?:python|src)\//;

/** `/usr/lib/python3.12/site-packages/vllm/v1/core.py` → `vllm/v1/core.py`; of other folders the file's own name. */
export function fileInPackage(file: string): string {
  const inPackages = file.replace(IN_PACKAGES, '');
  if (inPackages !== file) return inPackages;
  const inSources = file.replace(IN_SOURCES, '');
  return inSources.startsWith('/') ? inSources.slice(inSources.lastIndexOf('/') + 1) : inSources;
}

/** What TorchInductor writes is named by a hash. */
const INDUCTOR = /^c[a-z2-7]{51}\.py$/;

/** `vllm/v1/core.py` → `vllm`, `planted.py` → `planted.py`: a script is in no package. */
export function packageOfFile(inPackage: string): string {
  const [first] = inPackage.split('/', 1);
  return INDUCTOR.test(first) ? 'torch.compile' : first;
}
