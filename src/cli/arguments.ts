/** Command-line options through node:util, with errors a person can act on. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { UserError } from '../base/user-error.js';

export function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  command: string,
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const [reason] = (error as Error).message.split(/\. (?:To specify|Did you)|\n/);
    throw new UserError('usage', `${reason.replace(/\.$/, '')}.`, `See: stepscope ${command} --help`);
  }
}

export function requireFiles(command: string, files: readonly string[]): void {
  if (files.length > 0) return;
  throw new UserError('usage', 'No profile was given.', `For example: stepscope ${command} profile.sqlite`);
}

const UNIT_NS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/** `0.8s-1.5s`, `800ms-`, `-2ms-3ms`; bare numbers are nanoseconds. Times are those the reports print. */
export function readTimeWindow(text: string): { fromNs: number; toNs: number } {
  const time = '(-?\\d+(?:\\.\\d+)?)(ns|us|µs|ms|s)?';
  const match = new RegExp(`^(?:${time})?\\s*[-/]\\s*(?:${time})?$`).exec(text.trim());
  const bound = (number: string | undefined, unit: string | undefined, missing: number) =>
    number === undefined ? missing : Number(number) * UNIT_NS[unit ?? 'ns'];
  const fromNs = match ? bound(match[1], match[2], -Infinity) : Number.NaN;
  const toNs = match ? bound(match[3], match[4], Infinity) : Number.NaN;
  if (!(fromNs < toNs)) {
    throw new UserError(
      'usage',
      `${JSON.stringify(text)} is not a stretch of time.`,
      'Write START-END, for example --time 1.2s-1.5s (units ns, us, ms, s; bare numbers are ns).',
    );
  }
  return { fromNs, toNs };
}
