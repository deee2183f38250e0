/**
 * Counts the environment variables a file carries and how many look like secrets. Values are looked at here and
 * nowhere else, and none leaves this file but the range of iterations that was asked for: digits and dashes.
 */
import { namesSecret, SECRET_URL, SECRET_VALUE } from '../catalog/secret-shapes.js';

const RANGE_NAME = /^TLLM_(GPTM_)?PROFILE_START_STOP$/;
const RANGE_VALUE = /^\d{1,9}-\d{1,9}$/;
/** The one assignment whose value is told: which iterations were asked for. */
export const isRequestedRange = (assignment: string): boolean => {
  const [name, value, ...rest] = assignment.split('=');
  return rest.length === 0 && RANGE_NAME.test(name) && RANGE_VALUE.test(value ?? '');
};

export class EnvironmentCounter {
  private readonly names = new Set<string>();
  private readonly secrets = new Set<string>();
  /** Value of TLLM_PROFILE_START_STOP, or of its older name. */
  requestedIterations: string | undefined;

  /** One `NAME=value`; anything else is ignored. */
  addAssignment(text: string): void {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text);
    if (match) this.add(match[1], match[2]);
  }

  add(name: string, value: string): void {
    this.names.add(name);
    if (RANGE_NAME.test(name) && RANGE_VALUE.test(value)) this.requestedIterations = value;
    const filled = value.replace(/^["']|["']$/g, '').length > 0;
    if (filled && (namesSecret(name) || SECRET_VALUE.test(value) || SECRET_URL.test(value)))
      this.secrets.add(name);
  }

  /** A value outside the environment (a command line, a metadata field) that looks like a key. */
  looksSecret(value: string): boolean {
    return SECRET_VALUE.test(value) || SECRET_URL.test(value);
  }

  get counts(): { variables: number; looksSecret: number } {
    return { variables: this.names.size, looksSecret: this.secrets.size };
  }
}
