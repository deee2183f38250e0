/**
 * Counts environment variables a trace carries, and how many look like secrets. Neither names nor values are kept:
 * the count is there to warn whoever is about to share the file.
 */
const secretName = /TOKEN|SECRET|PASSW|API_?KEY|ACCESS_KEY|CREDENTIAL|PRIVATE|AUTH/i;
const secretValue =
  /\b(hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{8,}|gh[pousr]_[A-Za-z0-9]{8,}|github_pat_\w{8,}|AKIA[A-Z0-9]{12,}|xox[bp]-\w{8,})/;
const variableName = /^[A-Z][A-Z0-9_]*$/;
const environmentKey = /^(?:os_?)?env(?:iron(?:ment)?)?(?:_?var(?:iable)?s)?$/i;

export class EnvironmentCount {
  variables = 0;
  looksSecret = 0;

  /** One metadata entry of a key we do not know. */
  add(key: string, value: unknown): void {
    const all = environmentKey.test(key);
    if (Array.isArray(value)) {
      for (const entry of value) if (typeof entry === 'string') this.addAssignment(entry);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (all || variableName.test(name)) this.count(name, inner);
      }
    } else if (variableName.test(key) || looksSecret(key, value)) this.count(key, value);
  }

  /** `NAME=value`, as lists of variables are often written. */
  private addAssignment(text: string): void {
    const at = text.indexOf('=');
    if (at > 0 && variableName.test(text.slice(0, at))) this.count(text.slice(0, at), text.slice(at + 1));
  }

  private count(name: string, value: unknown): void {
    this.variables++;
    if (looksSecret(name, value)) this.looksSecret++;
  }
}

function looksSecret(name: string, value: unknown): boolean {
  return secretName.test(name) || (typeof value === 'string' && secretValue.test(value));
}
