/**
 * Puts kernels into families by the first rule that matches, and says why. Names repeat millions of times in a
 * capture, so answers are remembered, within a budget: a hostile file may hold a new name per kernel.
 */
import { type Attribute, type KernelAttributes, readAttributes } from './attributes.js';
import type { FamilyId } from './families.js';
import { parseFunctionName } from './function-name.js';
import type { KernelRule } from './rule.js';
import { builtInRules } from './rules.js';
import { shortNameOf } from './short-name.js';

export interface KernelClass {
  readonly family: FamilyId;
  /** Empty where the name does not tell. */
  readonly variant: string;
  /** Id of the rule that decided; `none` where none matched. */
  readonly rule: string;
  readonly dtype?: string;
  readonly tile?: string;
  readonly arch?: string;
  readonly library?: string;
  readonly shortName: string;
}

interface RuleMatch {
  readonly rule: string;
  readonly family: FamilyId;
  readonly variant: string;
  readonly pattern: string;
  readonly templatePattern?: string;
  readonly source: string;
}

export interface Explanation {
  readonly class: KernelClass;
  /** The function name that rules were tried on. */
  readonly functionName: string;
  readonly templateText: string;
  /** Whether the winning rule read the template text, because the function is a carrier. */
  readonly templateUsed: boolean;
  readonly winner?: RuleMatch;
  /** Rules that match too, and would have decided had they stood earlier. */
  readonly alsoMatching: readonly RuleMatch[];
  readonly attributes: Readonly<Partial<Record<keyof KernelAttributes, Attribute>>>;
}

export interface KernelClassifier {
  classify(name: string): KernelClass;
  explain(name: string): Explanation;
}

/** Characters of names kept in memory. */
const memoryBudget = 16_000_000;

export function createClassifier(userRules: readonly KernelRule[] = []): KernelClassifier {
  const rules = [...userRules, ...builtInRules];
  const known = new Map<string, KernelClass>();
  let held = 0;

  const classify = (name: string): KernelClass => {
    const found = known.get(name);
    if (found) return found;
    const parsed = parseFunctionName(name);
    const rule = rules.find(candidate => matches(candidate, parsed));
    const attributes = readAttributes(name, parsed);
    const result: KernelClass = {
      family: rule?.family ?? 'other',
      variant: rule?.variant ?? '',
      rule: rule?.id ?? 'none',
      ...values(attributes),
      shortName: shortNameOf(parsed, attributes),
    };
    if (held + name.length > memoryBudget) {
      known.clear();
      held = 0;
    }
    if (name.length <= memoryBudget) {
      known.set(name, result);
      held += name.length;
    }
    return result;
  };

  const explain = (name: string): Explanation => {
    const parsed = parseFunctionName(name);
    const all = rules.filter(rule => matches(rule, parsed));
    return {
      class: classify(name),
      functionName: parsed.qualified,
      templateText: parsed.templateText,
      templateUsed: all[0]?.templatePattern !== undefined,
      winner: all[0] && describe(all[0]),
      alsoMatching: all.slice(1).map(describe),
      attributes: readAttributes(name, parsed),
    };
  };
  return { classify, explain };
}

function matches(rule: KernelRule, { qualified, templateText }: { qualified: string; templateText: string }) {
  return rule.pattern.test(qualified) && (rule.templatePattern?.test(templateText) ?? true);
}

function values(attributes: KernelAttributes) {
  const { dtype, tile, arch, library } = attributes;
  return { dtype: dtype?.value, tile: tile?.value, arch: arch?.value, library: library?.value };
}

function describe(rule: KernelRule): RuleMatch {
  return {
    rule: rule.id,
    family: rule.family,
    variant: rule.variant ?? '',
    pattern: String(rule.pattern),
    templatePattern: rule.templatePattern && String(rule.templatePattern),
    source: rule.source,
  };
}
