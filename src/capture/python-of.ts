/** Which Python a command ends up in, told from its words and the first lines of the script it names. */
import { baseName, isPython, readLaunch } from './launchers.js';
import { withoutWrappers } from './read-command.js';

/** The program itself: behind a launcher, and behind what stands before it (`env`, `numactl` …). */
export function programOf(command: readonly string[]): string | undefined {
  const { program } = readLaunch(command);
  // uv brings a Python of its own choice.
  if (program.some(word => baseName(word) === 'uv')) return undefined;
  return withoutWrappers(program)[0];
}

/**
 * What `#!` names, where that is a Python: engines are started by small scripts of their environment (`vllm`). pip
 * writes a shell in front of long paths: `#!/bin/sh` and then `'''exec' /long/path/python "$0" "$@"`.
 */
export function pythonInScript(head: string): string | undefined {
  const [first = '', second = ''] = head.split('\n');
  const words =
    /^'''exec' ("[^"]+"|\S+)/
      .exec(second)
      ?.slice(1)
      .map(word => word.replaceAll('"', '')) ??
    /^#!\s*(.+)$/.exec(first)?.[1].trim().split(/\s+/) ??
    [];
  const python =
    baseName(words[0] ?? '') === 'env' ? words.find((word, i) => i > 0 && isPython(word)) : words[0];
  return python !== undefined && isPython(python) ? python : undefined;
}
