/** A gate policy: what a run must keep to, in absolute figures or against a baseline. The YAML is in docs/gate.md. */
import { closestWord } from '../base/closest-word.js';
import { UserError } from '../base/user-error.js';
import { type YamlKind, YamlText } from '../base/yaml-text.js';
import { isPhase, type Phase, phases } from '../catalog/phases.js';
import { type Metric, metricById, suggestMetrics } from '../run/metrics.js';
import { type DifferenceKind, differenceKinds } from './comparable.js';
import { DEFAULT_CONFIDENCE } from './noise.js';
import { type Amount, readBound, readChange } from './quantity.js';

const policyYaml: YamlKind = { name: 'policy', help: 'See docs/gate.md.', aliases: 50 };

export const limitKinds = ['max', 'min', 'max_increase', 'max_decrease'] as const;
type LimitKind = (typeof limitKinds)[number];

export interface Limit {
  readonly metric: Metric;
  /** Without one: the phase that takes most time. */
  readonly phase: Phase | undefined;
  readonly kind: LimitKind;
  readonly amount: Amount;
  /** The amount as it was written. */
  readonly written: string;
  readonly severity: 'warn' | 'fail';
  readonly ifNotRecorded: 'skip' | 'fail';
  /** Where it stands in the file. */
  readonly line: number;
}

export interface GatePolicy {
  /** Name of the baseline, where the command does not give one. */
  readonly baseline: string | undefined;
  /** That a change beyond the noise is one. */
  readonly confidence: number;
  readonly allowDifferent: readonly DifferenceKind[];
  readonly limits: readonly Limit[];
  /** What is allowed but looks like a slip. */
  readonly warnings: readonly string[];
}

const policyKeys = [
  'version',
  'baseline',
  'phase',
  'confidence',
  'allow_different',
  'severity',
  'unless_not_recorded',
  'limits',
];
const limitKeys = ['metric', 'phase', ...limitKinds, 'severity', 'unless_not_recorded', 'note'];
const MOST_LIMITS = 500;

export const isRelative = (kind: LimitKind): boolean => kind === 'max_increase' || kind === 'max_decrease';

/** The baseline to compare with: the one asked for, else the policy's own; a limit on change needs one. */
export function baselineWanted(policy: GatePolicy, asked: string | undefined): string | undefined {
  const name = asked ?? policy.baseline;
  const limit = policy.limits.find(({ kind }) => isRelative(kind));
  if (name !== undefined || !limit) return name;
  throw new UserError(
    'usage',
    `Line ${limit.line} of the policy compares with a baseline (${limit.metric.id} ${limit.kind}), but no baseline was given.`,
    'Name one with --baseline NAME, or in the policy: baseline: NAME',
  );
}

export function parseGatePolicy(text: string, file: string): GatePolicy {
  const yaml = new YamlText(text, file, policyYaml);
  const top = yaml.entries(yaml.root, 'a policy', policyKeys);
  const given = (name: string) => {
    const entry = top.get(name);
    return entry && { ...entry, text: yaml.scalar(entry.value, entry.key, name) };
  };
  const version = given('version');
  if (version && version.text !== '1')
    throw yaml.error(
      version.value,
      `this is version ${JSON.stringify(version.text)} of the policy format`,
      'This version of stepscope reads version 1.',
    );
  const confidence = given('confidence');
  const level = confidence ? readBound(confidence.text, 'share') : DEFAULT_CONFIDENCE;
  if (typeof level !== 'number' || level < 0.5 || level > 0.9999)
    throw yaml.error(
      confidence!.value,
      `${JSON.stringify(confidence!.text)} is not a confidence level`,
      'Write 95% or 0.99.',
    );
  const defaults: Defaults = {
    phase: readPhase(yaml, given('phase')),
    severity: oneOf(yaml, given('severity'), 'severity', ['fail', 'warn']) ?? 'fail',
    ifNotRecorded:
      oneOf(yaml, given('unless_not_recorded'), 'unless_not_recorded', ['fail', 'skip']) ?? 'fail',
  };
  const list = top.get('limits');
  if (!list)
    throw yaml.error(
      yaml.root,
      'a policy needs "limits"',
      'A list of metrics, each with max, min, max_increase or max_decrease.',
    );
  const { items } = yaml.list(list.value ?? list.key, '"limits"');
  if (items.length === 0 || items.length > MOST_LIMITS)
    throw yaml.error(list.key, `"limits" must have 1 to ${MOST_LIMITS} entries`);
  const warnings: string[] = [];
  return {
    baseline: given('baseline')?.text,
    confidence: level,
    allowDifferent: readKinds(yaml, top.get('allow_different')),
    limits: items.flatMap(item => readLimits(yaml, item, defaults, warnings, file)),
    warnings,
  };
}

type Defaults = Pick<Limit, 'phase' | 'severity' | 'ifNotRecorded'>;
type Given = {
  readonly key: Parameters<YamlText['lineOf']>[0];
  readonly value: Parameters<YamlText['error']>[0];
  readonly text: string;
};

function readLimits(
  yaml: YamlText,
  item: Parameters<YamlText['lineOf']>[0],
  defaults: Defaults,
  warnings: string[],
  file: string,
): Limit[] {
  const entries = yaml.entries(item, 'a limit', limitKeys);
  const given = (name: string): Given | undefined => {
    const entry = entries.get(name);
    return entry && { ...entry, text: yaml.scalar(entry.value, entry.key, name) };
  };
  const metric = readMetric(yaml, item, given('metric'));
  const ownPhase = given('phase');
  if (ownPhase && metric.scope === 'run')
    throw yaml.error(
      ownPhase.key,
      `${metric.id} applies to the whole run, not to a phase`,
      'Remove "phase".',
    );
  const shared = {
    metric,
    phase: metric.scope === 'run' ? undefined : (readPhase(yaml, ownPhase) ?? defaults.phase),
    severity: oneOf(yaml, given('severity'), 'severity', ['fail', 'warn']) ?? defaults.severity,
    ifNotRecorded:
      oneOf(yaml, given('unless_not_recorded'), 'unless_not_recorded', ['fail', 'skip']) ??
      defaults.ifNotRecorded,
  };
  const limits = limitKinds.flatMap((kind): Limit[] => {
    const bound = given(kind);
    if (!bound) return [];
    const amount = readAmount(yaml, bound, kind, metric);
    const line = yaml.lineOf(bound.key);
    const harmless = kind === (metric.better === 'lower' ? 'max_decrease' : 'max_increase');
    if (harmless)
      warnings.push(
        `${file}:${line}: ${metric.id} is better when ${metric.better}: ${kind} blocks improvements`,
      );
    return [{ ...shared, kind, amount, written: bound.text, line }];
  });
  if (limits.length > 0) return limits;
  throw yaml.error(
    item,
    `the limit on ${metric.id} has no bound`,
    `Give it one of: ${limitKinds.join(', ')}.`,
  );
}

function readMetric(
  yaml: YamlText,
  item: Parameters<YamlText['lineOf']>[0],
  given: Given | undefined,
): Metric {
  if (!given) throw yaml.error(item, 'a limit needs "metric"', 'For example: - metric: step.p50');
  const metric = metricById(given.text);
  if (metric) return metric;
  const close = suggestMetrics(given.text);
  throw yaml.error(
    given.value,
    `unknown metric ${JSON.stringify(given.text.slice(0, 60))}`,
    close.length > 0 ? `Did you mean ${close.join(', ')}?` : 'stepscope check --metrics lists them.',
  );
}

function readAmount(yaml: YamlText, given: Given, kind: LimitKind, metric: Metric): Amount {
  const read = isRelative(kind) ? readChange(given.text, metric.unit) : readBound(given.text, metric.unit);
  if (typeof read === 'number') return { kind: 'absolute', value: read };
  if (!('wrong' in read)) return read;
  throw yaml.error(
    given.value,
    `${JSON.stringify(given.text.slice(0, 60))} is not a valid ${kind} for ${metric.id}`,
    `${upperFirst(read.wrong)}.`,
  );
}

function readPhase(yaml: YamlText, given: Given | undefined): Phase | undefined {
  if (!given || isPhase(given.text)) return given?.text as Phase | undefined;
  throw noSuch(
    yaml,
    given,
    'phase',
    phases.map(({ id }) => id),
  );
}

function readKinds(
  yaml: YamlText,
  entry: { readonly key: Given['key']; readonly value: Parameters<YamlText['list']>[0] } | undefined,
): DifferenceKind[] {
  if (!entry) return [];
  return yaml.list(entry.value ?? entry.key, '"allow_different"').items.map(item => {
    const text = yaml.scalar(item, item, 'allow_different');
    if (differenceKinds.some(({ id }) => id === text)) return text as DifferenceKind;
    throw noSuch(
      yaml,
      { key: item, value: item, text },
      'difference',
      differenceKinds.map(({ id }) => id),
    );
  });
}

function oneOf<Word extends string>(
  yaml: YamlText,
  given: Given | undefined,
  name: string,
  words: readonly Word[],
): Word | undefined {
  if (!given || words.includes(given.text as Word)) return given?.text as Word | undefined;
  throw noSuch(yaml, given, name, words);
}

function noSuch(yaml: YamlText, given: Given, name: string, words: readonly string[]) {
  const meant = closestWord(given.text, words);
  return yaml.error(
    given.value,
    `${JSON.stringify(given.text.slice(0, 60))} is not a valid ${name}`,
    `${meant ? `Did you mean ${meant}? ` : ''}Use one of: ${words.join(', ')}.`,
  );
}

const upperFirst = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
