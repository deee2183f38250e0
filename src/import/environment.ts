/**
 * Counts the environment variables a file carries and how many look like secrets. Values are looked at here and
 * nowhere else, and none leaves this file but the range of iterations that was asked for: digits and dashes.
 */
export const SECRET_NAME =
  /TOKEN|SECRET|PASSW|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIAL|AUTH|COOKIE|SESSION_?KEY/i;
const HARMLESS_NAME = /TOKENIZERS?_|_TOKENS?_?(MAX|MIN|LIMIT|COUNT)|SSH_AUTH_SOCK|XAUTHORITY/i;
/**
 * Shapes of well-known keys: Hugging Face, OpenAI-style, GitHub, AWS, Slack, Google, NGC, JSON web tokens. What stands
 * in front of a dot has a bound: long texts are looked at too, and must not be searched to their end at every letter.
 */
export const SECRET_VALUE =
  /\b(hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|nvapi-[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{10,4000}\.)/;
const RANGE_NAME = /^TLLM_(GPTM_)?PROFILE_START_STOP$/;
const RANGE_VALUE = /^\d{1,9}-\d{1,9}$/;
/** The one assignment whose value is told: which iterations were asked for. */
export const isRequestedRange = (assignment: string): boolean => {
  const [name, value, ...rest] = assignment.split('=');
  return rest.length === 0 && RANGE_NAME.test(name) && RANGE_VALUE.test(value ?? '');
};
export const SECRET_URL = /:\/\/[^/\s:@]{1,400}:[^/\s:@]{3,400}@/;

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
    const named = SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
    if (filled && (named || SECRET_VALUE.test(value) || SECRET_URL.test(value))) this.secrets.add(name);
  }

  /** A value outside the environment (a command line, a metadata field) that looks like a key. */
  looksSecret(value: string): boolean {
    return SECRET_VALUE.test(value) || SECRET_URL.test(value);
  }

  get counts(): { variables: number; looksSecret: number } {
    return { variables: this.names.size, looksSecret: this.secrets.size };
  }
}
