/**
 * A user's own rules: `{"rules": [{"family": "attention", "match": "my_kernel.*", "variant": "decode", "note": "…"}]}`.
 * Every mistake names the rule it is in.
 */
import { UserError } from '../../base/user-error.js';
import { families, isFamilyId } from './families.js';
import type { KernelRule } from './rule.js';

const patternLimit = 200;
const keys = ['family', 'match', 'variant', 'note'];
const shape = 'Example of a rules file: {"rules": [{"family": "attention", "match": "my_kernel"}]}.';

export function parseUserRules(json: unknown): KernelRule[] {
  if (!isObject(json) || !Array.isArray(json.rules))
    throw mistake('The rules file has no list "rules".', shape);
  return json.rules.map((rule: unknown, i) => parseRule(rule, i + 1));
}

function parseRule(rule: unknown, number: number): KernelRule {
  const where = `Rule ${number} of the rules file`;
  if (!isObject(rule)) throw mistake(`${where} is not an object.`, shape);
  for (const key of Object.keys(rule)) {
    if (!keys.includes(key))
      throw mistake(`${where} has an unknown key "${brief(key)}".`, `Known keys: ${keys.join(', ')}.`);
  }
  const { family, match, variant = '', note = '' } = rule;
  if (typeof family !== 'string' || !isFamilyId(family)) {
    const given = typeof family === 'string' ? `has an unknown family "${brief(family)}"` : 'has no "family"';
    throw mistake(`${where} ${given}.`, `Families: ${families.map(({ id }) => id).join(', ')}.`);
  }
  if (typeof variant !== 'string' || typeof note !== 'string')
    throw mistake(`${where} has a variant or note that is not text.`, 'Quote both, or omit them.');
  return {
    id: `user-${number}`,
    family,
    variant,
    pattern: parsePattern(match, where),
    source: note ? `your rules file, rule ${number}: ${note}` : `your rules file, rule ${number}`,
  };
}

function parsePattern(match: unknown, where: string): RegExp {
  if (typeof match !== 'string' || match === '')
    throw mistake(
      `${where} has no "match".`,
      '"match" is a regular expression for the function name, such as "my_attn".',
    );
  if (match.length > patternLimit) {
    throw mistake(
      `${where} has a pattern of ${match.length} characters; the limit is ${patternLimit}.`,
      'Split it into several rules of the same family.',
    );
  }
  // `(a+)+` takes exponential time on a name that almost matches.
  if (/\([^()]*[*+}][^()]*\)(?:[*+]|\{\d+,)/.test(match)) {
    throw mistake(
      `${where} has nested repetition, which can take exponential time: ${brief(match)}`,
      'Write the repetition once, for example "a+" instead of "(a+)+".',
    );
  }
  try {
    return new RegExp(match, 'i');
  } catch (error) {
    const reason = brief(error instanceof Error ? error.message : String(error));
    throw mistake(
      `${where} is not a regular expression: ${reason}`,
      'Escape literal brackets and special characters with a backslash, in JSON with two: "\\\\(".',
    );
  }
}

/** Both lines stay lines, whatever the file holds. */
const brief = (text: string) => text.replace(/\s+/g, ' ').slice(0, 160);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mistake = (what: string, hint: string) => new UserError('usage', what, hint);
