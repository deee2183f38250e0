/**
 * How keys and passwords look: by the name in front of them, by a well-known beginning, or inside an address. Whatever
 * writes text that came from outside (a copy, a recipe, a report) asks here.
 */

/** Names of variables, options, headers and fields whose value opens a door. */
const SECRET_NAME =
  /TOKEN|SECRET|PASSW|\bPWD\b|PASSPHRASE|API[_-]?KEY|ACCESS[_-]?KEY|ACCOUNT[_-]?KEY|PRIVATE[_-]?KEY|SHARED[_-]?KEY|CREDENTIAL|AUTH|COOKIE|SESSION[_-]?KEY|SIGNATURE/i;
/** Tokens of a language model are not secrets, and they come in numbers; the others name files and features. */
const HARMLESS_NAME =
  /tokens|tokeni[sz]e|token_?(?:id|num|count|len|budget)|num_?token|author\b|authori[sz]ed\b|SSH_AUTH_SOCK|XAUTHORITY/i;

/**
 * Group by group: who hands out keys of this shape. What stands in front of a dot has a bound: long texts are looked at too,
 * and must not be searched to their end at every letter.
 */
const issued: readonly { readonly shape: RegExp; readonly issuer: string }[] = [
  { shape: /hf_[A-Za-z0-9]{20,}/, issuer: 'Hugging Face' },
  { shape: /sk-[A-Za-z0-9_-]{20,}/, issuer: 'OpenAI and those who copied its shape' },
  { shape: /[spr]k_(?:live|test)_[A-Za-z0-9]{10,}/, issuer: 'Stripe' },
  { shape: /gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{20,}/, issuer: 'GitHub' },
  { shape: /gl(?:pat|rt|dt|cbt)-[A-Za-z0-9_-]{15,}/, issuer: 'GitLab' },
  { shape: /(?:AKIA|ASIA)[0-9A-Z]{16}/, issuer: 'AWS' },
  { shape: /xox[abeprs]-[A-Za-z0-9-]{10,}/, issuer: 'Slack' },
  { shape: /AIza[A-Za-z0-9_-]{30,}/, issuer: 'Google' },
  { shape: /nvapi-[A-Za-z0-9_-]{20,}/, issuer: 'NVIDIA' },
  { shape: /npm_[A-Za-z0-9]{20,}/, issuer: 'npm' },
  { shape: /pypi-[A-Za-z0-9_-]{16,}/, issuer: 'PyPI' },
  { shape: /eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{10,4000}\./, issuer: 'JSON web tokens' },
];
const issuedShapes = issued.map(({ shape }) => shape.source).join('|');

export const SECRET_VALUE = new RegExp(`\\b(?:${issuedShapes})|-----BEGIN [A-Z ]*(?:KEY|CERTIFICATE)`);
/** To its end: the shape that recognizes a key need not match all of it. */
const SECRET_EVERYWHERE = new RegExp(`(?<![A-Za-z0-9])(?:${issuedShapes})[\\w.-]*`, 'g');
const PEM = /-----BEGIN [A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*-----|$)/g;
export const SECRET_URL = /:\/\/[^/\s:@]{1,400}:[^/\s:@]{3,400}@/;
const URL_CREDENTIALS = /:\/\/(?!removed@)[^/\s:@]{1,400}:[^/\s@]{1,400}@/g;
/** `Authorization: Bearer x`, or a scheme alone: the word behind it is the key. */
const SCHEME = /\b(Bearer|Basic|Digest|Negotiate)(\s+)[A-Za-z0-9._~+/=-]{6,}/gi;
const VALUE = `("[^"]*"|'[^']*'|[^\\s,;&"'{}[\\]()]+)`;
/** `name=value`, `name: value`, `"name": "value"`. */
const NAMED = new RegExp(
  `(?<![\\w-])(-{0,2}(["']?)([A-Za-z_][A-Za-z0-9_.-]{1,80})\\2\\s*[=:]\\s*)(?!:)${VALUE}`,
  'g',
);
/** `--name value`. */
const OPTION = new RegExp(`(?<![\\w-])(--?()([A-Za-z][A-Za-z0-9_.-]{1,80})\\s+)${VALUE}`, 'g');

/** Counts, switches, what was removed before, and schemes, whose key is the next word. */
const HARMLESS_VALUE =
  /^["']?(?:[\d.]*|removed|true|false|none|null|Bearer|Basic|Digest|Negotiate|-.*)["']?$/i;

export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name) && !HARMLESS_NAME.test(name);
}

/** The text with every key and password replaced; `found` is called once for each. */
export function withoutSecrets(text: string, found: () => void): string {
  const removed = () => {
    found();
    return 'removed';
  };
  return text
    .replace(SECRET_EVERYWHERE, removed)
    .replace(URL_CREDENTIALS, () => `://${removed()}@`)
    .replace(PEM, removed)
    .replace(SCHEME, (whole, scheme: string, space: string) =>
      whole.endsWith('removed') ? whole : `${scheme}${space}${removed()}`,
    )
    .replace(NAMED, withoutValue)
    .replace(OPTION, withoutValue);

  function withoutValue(whole: string, front: string, _quote: string, name: string, value: string): string {
    if (!namesSecret(name) || HARMLESS_VALUE.test(value)) return whole;
    const around = /^["']/.exec(value)?.[0] ?? '';
    return `${front}${around}${removed()}${around}`;
  }
}

/** Everything of a value that is about to be kept, without keys: in texts, and behind options of a command line. */
export function withoutSecretValues<T>(value: T): T {
  return keyless(value) as T;
}

function keyless(value: unknown, name = ''): unknown {
  if (typeof value === 'string')
    return name !== '' && namesSecret(name) && !HARMLESS_VALUE.test(value)
      ? 'removed'
      : withoutSecrets(value, () => {});
  if (Array.isArray(value)) {
    return value.map((inner: unknown, i) => {
      const before: unknown = value[i - 1];
      const option = typeof before === 'string' && /^--?[A-Za-z][\w.-]*$/.test(before) ? before : '';
      return keyless(inner, option);
    });
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, keyless(inner, key)]));
}
