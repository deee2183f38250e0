/** What happens to each text of a trace: a place that analyses read keeps what it is for, every other text is replaced. */
import { createHash } from 'node:crypto';
import { namesSecret, withoutSecrets } from '../catalog/secret-shapes.js';
import {
  argumentText,
  isAnnotation,
  isApiCall,
  isCategory,
  isGpuWork,
  isHostWork,
  isKinetoMark,
  isKnownInnerKey,
  isKnownKey,
  isKnownMetadata,
  metadataText,
} from './allowed-trace.js';
import type { Identities } from './identities.js';
import {
  isGpuName,
  isIdentifier,
  isNumbers,
  isPlain,
  isTypeName,
  isVersion,
  isWorkKind,
} from './known-values.js';
import { redactRange, scrubName } from './range-names.js';
import type { RemovalKind, Removals } from './removals.js';
import type { NoteRemoval } from './scrub-text.js';

const ENVIRONMENT_KEY = /^(?:os_?)?env(?:iron(?:ment)?)?(?:_?var(?:iable)?s)?$/i;
/** Tracks that Kineto and ROCm name by words, and ranks as merged traces write them. */
const LANE =
  /^(?:Spans|Traces?|(?:Trace )?PyTorch Profiler|stream \d+|\[(?:(?:TP|DP|PP|EP|CP|rank)[ _-]?\d+[ _-]?){1,4}\] ?\d*)$/i;
const BACKEND =
  /^(?:(?:cpu|cuda|xpu|hpu):)?(?:nccl|gloo|mpi|ucc|rccl|hccl|xccl|fake|undefined)(?:,(?:cpu|cuda):(?:nccl|gloo))?$/i;
const COLLECTIVE = /^[a-z_]{2,40}$/;
const MAX_REMEMBERED = 100_000;

interface Answer {
  /** As JSON writes it, without quotes; undefined when it stays. */
  readonly text: string | undefined;
  readonly kinds: readonly RemovalKind[];
}

type Rule = (text: string, note: NoteRemoval) => string;

export class TraceRules {
  private readonly known = new Map<Rule, Map<string, Answer>>();
  private readonly aliases = new Map<string, string>();
  private readonly anyName: Rule;
  private readonly range: Rule;
  private readonly gone = new Map<RemovalKind, Rule>();

  constructor(
    readonly identities: Identities,
    private readonly removals: Removals,
    hashRanges: boolean,
  ) {
    this.anyName = (text, note) => scrubName(text, identities, note);
    this.range = (text, note) => redactRange(text, identities, hashRanges, note);
  }

  /** The rule for a text of the event itself. */
  ownText(key: string, category: string, phase: string): Rule {
    if (key === 'name') return this.eventName(category, phase);
    if (key === 'cat') return categoryRule;
    if (key === 'pid' || key === 'tid') return laneRule;
    if (/^(?:ph|s|bp)$/.test(key)) return letterRule;
    return /^(?:ts|dur|tts|tdur|id|id2|sf|esf)$/.test(key) ? numberRule : this.removed('setting');
  }

  private eventName(category: string, phase: string): Rule {
    if (isAnnotation(category)) return this.range;
    if (isGpuWork(category)) return codeName;
    if (isApiCall(category)) return apiName;
    if (isHostWork(category) && phase !== 'M') return this.anyName;
    return markName;
  }

  /** The rule for an argument: `keys` lead to it, the nearest last. */
  argument(keys: readonly string[]): Rule {
    const [, key, ...deeper] = keys;
    const kind = deeper.length > 0 ? undefined : argumentText(key);
    switch (kind) {
      case 'name':
      case 'stack':
        return this.anyName;
      case 'kind':
        return kindRule;
      case 'labels':
        return labelRule;
      case 'types':
        return typeRule;
      case 'collective':
        return collectiveRule;
      case 'number':
        return numberRule;
      default:
        return this.removed(removalOf(keys.slice(1)));
    }
  }

  /** Another name for a key that is not on the list; undefined when it stays. `above` leads to it. */
  key(key: string, above: readonly string[]): string | undefined {
    return isKnownKey(key, above) ? undefined : this.alias(key);
  }

  innerKey(key: string): string | undefined {
    return isKnownInnerKey(key) ? undefined : this.alias(key);
  }

  /** Unknown keys are numbered as they come: what they were called is nobody's business. */
  private alias(key: string): string | undefined {
    if (/^key-\d+$/.test(key)) return undefined;
    let alias = this.aliases.get(key);
    if (!alias) {
      // A file of millions of keys is hostile; they may then share a name.
      alias = `key-${Math.min(this.aliases.size, MAX_REMEMBERED) + 1}`;
      if (this.aliases.size < MAX_REMEMBERED) this.aliases.set(key, alias);
    }
    this.removals.add('setting', 'keys that no analysis reads');
    return alias;
  }

  keepsMetadata(key: string): boolean {
    return isKnownMetadata(key);
  }

  /** Another key for metadata that is not kept. Host names keep theirs: they tell the ranks of a run apart. */
  metadataKey(key: string): string | undefined {
    return /^host_?name$/i.test(key) ? undefined : this.alias(key);
  }

  metadataText(top: string, keys: readonly string[]): Rule {
    switch (metadataText(top, keys)) {
      case 'gpu-name':
        return gpuRule;
      case 'backend':
        return backendRule;
      case 'version':
        return versionRule;
      case 'unit':
        return unitRule;
      case 'number':
        return numberRule;
    }
  }

  /** Another value for metadata that is not kept, as JSON; undefined for plain numbers, which stay. */
  otherMetadata(key: string, json: string): string | undefined {
    if (/^-?[\d.eE+-]+$|^(true|false|null)$/.test(json)) return undefined;
    // Ours, from an earlier time.
    if (/^"(removed|host-[0-9a-f]{8})?"$/.test(json)) return undefined;
    if (/^host_?name$/i.test(key)) {
      this.removals.add('host', 'metadata host name');
      // Two hosts must stay two.
      return `"host-${shortHash(json)}"`;
    }
    const kind = removalOf([key]);
    this.removals.add(kind, 'metadata', kind === 'environment' ? entriesOf(json) : 1);
    return '"removed"';
  }

  /** What to write in place of a string, without its quotes; undefined when it stays. */
  apply(rule: Rule, raw: string, where: () => string): string | undefined {
    let answers = this.known.get(rule);
    if (!answers) {
      answers = new Map();
      this.known.set(rule, answers);
    }
    let answer = answers.get(raw);
    if (!answer) {
      if (answers.size >= MAX_REMEMBERED) answers.clear();
      answer = judge(rule, raw);
      answers.set(raw, answer);
    }
    for (const kind of answer.kinds) this.removals.add(kind, where());
    return answer.text;
  }

  private removed(kind: RemovalKind): Rule {
    let rule = this.gone.get(kind);
    if (!rule) {
      rule = keptWhen(text => isPlain(text), kind);
      this.gone.set(kind, rule);
    }
    return rule;
  }
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

function keptWhen(isFine: (text: string) => boolean, kind: RemovalKind): Rule {
  return (text, note) => {
    if (text === 'removed' || isFine(text)) return text;
    note(kind);
    return 'removed';
  };
}

/** Different words stay different, so that tracks and categories stay apart. */
function hashedUnless(isFine: (text: string) => boolean, prefix: string): Rule {
  return (text, note) => {
    if (isFine(text) || new RegExp(`^${prefix}-[0-9a-f]{8}$`).test(text)) return text;
    note('setting');
    return `${prefix}-${shortHash(text)}`;
  };
}

const codeName: Rule = (text, note) => withoutSecrets(text, () => note('secret'));
const apiName: Rule = (text, note) =>
  isIdentifier(text) || isWorkKind(text) || /^[A-Z][a-z]+(?: [A-Za-z]+){0,4}$/.test(text)
    ? codeName(text, note)
    : keptWhen(() => false, 'setting')(text, note);
const markName = keptWhen(text => isKinetoMark(text) || isCategory(text), 'setting');
const categoryRule = hashedUnless(isCategory, 'category');
const laneRule = hashedUnless(text => isPlain(text) || LANE.test(text), 'lane');
const letterRule = keptWhen(text => /^[A-Za-z(){}]{0,2}$/.test(text), 'setting');
const numberRule = keptWhen(text => isPlain(text) || isNumbers(text), 'setting');
const kindRule = keptWhen(isWorkKind, 'setting');
const labelRule = keptWhen(text => /^(?:CPU|GPU \d+)?$/.test(text), 'setting');
const typeRule = keptWhen(isTypeName, 'setting');
const collectiveRule = keptWhen(text => COLLECTIVE.test(text), 'setting');
const gpuRule = keptWhen(isGpuName, 'machine');
const backendRule = keptWhen(text => BACKEND.test(text), 'setting');
const versionRule = keptWhen(text => isVersion(text), 'setting');
const unitRule = keptWhen(text => /^[mun]?s$/.test(text), 'setting');

/** What the list of removals calls a text that nothing reads, by the keys that lead to it. */
function removalOf(keys: readonly string[]): RemovalKind {
  const nearest = keys.at(-1) ?? '';
  if (keys.some(key => ENVIRONMENT_KEY.test(key)) || /^[A-Z][A-Z0-9_]+$/.test(nearest)) return 'environment';
  if (namesSecret(nearest)) return 'secret';
  if (/^host_?name$/i.test(nearest)) return 'host';
  if (/user|owner|author/i.test(nearest)) return 'user';
  if (/command|cmdline|argv/i.test(nearest)) return 'command-line';
  return /^traceName$|file|path|dir$|cwd/i.test(nearest) ? 'path' : 'setting';
}

/** `raw` holds the file's bytes, one character each. */
function judge(rule: Rule, raw: string): Answer {
  const written = Buffer.from(raw, 'latin1').toString('utf8');
  let text = written;
  if (raw.includes('\\')) {
    try {
      text = String(JSON.parse(`"${written}"`));
    } catch {
      // Not valid JSON: judged as it is written.
    }
  }
  const kinds: RemovalKind[] = [];
  const fresh = rule(text, kind => kinds.push(kind));
  return { text: fresh === text ? undefined : JSON.stringify(fresh).slice(1, -1), kinds };
}

function entriesOf(json: string): number {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? Math.max(1, Object.keys(value).length) : 1;
  } catch {
    return 1;
  }
}
