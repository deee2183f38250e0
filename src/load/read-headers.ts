/** Headers from the command line and the key from the environment: never printed, so errors do not repeat them. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { UserError } from '../base/user-error.js';

export function readHeaders(
  lines: readonly string[],
  keyVariable: string | undefined,
  env: NodeJS.ProcessEnv,
): { headers: Record<string, string>; secrets: string[] } {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/s.exec(line) ?? [];
    if (!isHeader(name, value) || /^(content-length|transfer-encoding|host|connection)$/i.test(name))
      throw new UserError(
        'usage',
        'A given header is not valid.',
        "For example: --header 'x-tenant: team-a'",
      );
    headers[name.toLowerCase()] = value;
  }
  if (keyVariable === undefined) return { headers, secrets: [] };
  const key = env[keyVariable]?.trim();
  if (!key || !isHeader('authorization', key))
    throw new UserError(
      'usage',
      // The name is not repeated: it may be the key itself, given by mistake.
      key ? 'The environment variable does not contain a valid key.' : 'The environment variable is not set.',
      'Set it first: export API_KEY=…; then use --api-key-env API_KEY, the name and not the key.',
    );
  headers.authorization = `Bearer ${key}`;
  return { headers, secrets: [key] };
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
