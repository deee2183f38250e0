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

/** Python's own modules and libraries that serve everybody: their functions say what is done, not who wants it. */
const GENERAL =
  /^(?:torch|triton|numpy|transformers|tokenizers|huggingface_hub|msgspec|msgpack|pydantic\w*|zmq|uvloop|aiohttp|fastapi|starlette|uvicorn|ray|cloudpickle|prometheus_client|loguru|psutil|xgrammar|outlines\w*|llguidance|logging|json|asyncio|multiprocessing|concurrent|collections|importlib|encodings|email|http|urllib|re|ctypes|unittest|(?:threading|queue|selectors|socket|subprocess|pickle|copy|copyreg|random|uuid|warnings|traceback|inspect|weakref|heapq|bisect|time|datetime|socketserver|ssl|tempfile|shutil|os|io|codecs|string|textwrap|struct|hashlib|statistics|signal|sre_\w+|_\w+)\.py)$/;
export const isGeneralLibrary = (packageName: string): boolean => GENERAL.test(packageName);
