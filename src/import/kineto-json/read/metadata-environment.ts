/** Finds environment variables in metadata we do not know: programs may add their whole environment to a trace. */
import type { EnvironmentCounter } from '../../environment.js';

const variableName = /^[A-Z][A-Z0-9_]*$/;
const environmentKey = /^(?:os_?)?env(?:iron(?:ment)?)?(?:_?var(?:iable)?s)?$/i;

/** Counts what looks like a variable, or like a secret, in one metadata entry and one level below it. */
export function countEnvironment(key: string, value: unknown, counter: EnvironmentCounter): void {
  if (Array.isArray(value)) {
    for (const entry of value) if (typeof entry === 'string') counter.addAssignment(entry);
    return;
  }
  const isEnvironment = environmentKey.test(key);
  const entries =
    typeof value === 'object' && value !== null ? Object.entries(value) : [[key, value] as const];
  for (const [name, inner] of entries) {
    const text = typeof inner === 'string' ? inner : JSON.stringify(inner);
    if (isEnvironment || variableName.test(name) || counter.looksSecret(text)) counter.add(name, text);
  }
}
