/** What happens to each text of a trace: names by category, arguments by key, metadata by list. */
import { createHash } from 'node:crypto';
import { SECRET_NAME } from '../import/environment.js';
import type { Identities } from './identities.js';
import { redactRange, scrubName } from './range-names.js';
import type { RemovalKind, Removals } from './removals.js';
import { type NoteRemoval, scrubPath, scrubText } from './scrub-text.js';

/** Work of the GPU and calls of its API: names everyone has. */
const CODE_CATEGORY = /^(kernel|(gpu_)?mem(cpy|set)|cuda_sync|overhead|(.*_)?(runtime|driver))$/i;
const ANNOTATION = /^(gpu_)?user_annotation$/i;
const ENVIRONMENT_KEY = /^(?:os_?)?env(?:iron(?:ment)?)?(?:_?var(?:iable)?s)?$/i;
const FILE_KEY = /(^|_)(file|filename|path|dir|cwd)$/i;
const KERNEL_KEY = /^(kernel|kernel_name|cuda_sync_kind|kind|dtype)$/;
/** Arguments named for a token of a language model, not for one that opens doors. */
const COUNTED_KEY = /tokens|token_?id/i;

/** Metadata that analyses read, and PyTorch's own. */
const KEPT_METADATA =
  /^(schemaVersion|deviceProperties|distributedInfo|record_shapes|profile_memory|with_(stack|flops|modules)|(cuda|hip)_(driver|runtime)_version|(cupti|roctracer|rocprofiler|nccl|torch|pytorch)_version|trace_id|displayTimeUnit|baseTimeNanoseconds|stackFrames|INFO|WARNING|ERROR|VERBOSE|STAGE)$/;

const MAX_REMEMBERED = 100_000;

interface Answer {
  /** As JSON writes it, without quotes; undefined when it stays. */
  readonly text: string | undefined;
  readonly kinds: readonly RemovalKind[];
}

type Rule = (text: string, note: NoteRemoval) => string;

export class TraceRules {
  private readonly known = new Map<Rule, Map<string, Answer>>();
  private readonly anyText: Rule;
  private readonly anyName: Rule;
  private readonly anyPath: Rule;
  private readonly range: Rule;
  private readonly gone = new Map<RemovalKind, Rule>();

  constructor(
    readonly identities: Identities,
    private readonly removals: Removals,
    hashRanges: boolean,
  ) {
    this.anyText = (text, note) => scrubText(text, identities, note);
    this.anyName = (text, note) => scrubName(text, identities, note);
    this.anyPath = (text, note) => scrubPath(text, identities, note);
    this.range = (text, note) => redactRange(text, identities, hashRanges, note);
  }

  /** The rule for an event's own text (`name`, or a key that is no argument); undefined when it stays. */
  ownText(key: string, category: string, phase: string): Rule | undefined {
    if (key !== 'name') return /^(cat|ph|id|pid|tid|s|bp|ts|dur|cname)$/.test(key) ? undefined : this.anyText;
    if (phase === 'M' || CODE_CATEGORY.test(category)) return undefined;
    return ANNOTATION.test(category) ? this.range : this.anyName;
  }

  /** The rule for an argument: `keys` lead to it, the nearest last. */
  argument(keys: readonly string[]): Rule | undefined {
    const nearest = keys.at(-1) ?? '';
    if (keys.some(key => ENVIRONMENT_KEY.test(key))) return this.removed('environment');
    if (SECRET_NAME.test(nearest) && !COUNTED_KEY.test(nearest)) return this.removed('secret');
    if (/^host_?name$/i.test(nearest)) return this.removed('host');
    if (/^user_?name$/i.test(nearest)) return this.removed('user');
    if (/^(command|cmdline|command_line|argv)$/i.test(nearest)) return this.removed('command-line');
    if (KERNEL_KEY.test(nearest)) return undefined;
    return FILE_KEY.test(nearest) ? this.anyPath : this.anyText;
  }

  /** Kept metadata is searched text by text. */
  keepsMetadata(key: string): boolean {
    return KEPT_METADATA.test(key);
  }

  /** Another key for metadata that is not kept. */
  metadataKey(raw: string): string | undefined {
    return this.apply(this.anyText, raw, () => 'metadata keys');
  }

  /** Another value for metadata that is not kept, as JSON; undefined for plain numbers, which stay. */
  otherMetadata(key: string, json: string): string | undefined {
    if (/^-?[\d.eE+-]+$|^(true|false|null)$/.test(json)) return undefined;
    // Ours, from an earlier time.
    if (/^"(removed|host-[0-9a-f]{8})?"$/.test(json)) return undefined;
    const where = `metadata ${key.slice(0, 60)}`;
    if (/^host_?name$/i.test(key)) {
      this.removals.add('host', where);
      // Ranks of one run are told apart by their hosts, so two hosts must stay two.
      return `"host-${createHash('sha256').update(json).digest('hex').slice(0, 8)}"`;
    }
    const kind: RemovalKind =
      ENVIRONMENT_KEY.test(key) || /^[A-Z][A-Z0-9_]*$/.test(key)
        ? 'environment'
        : /user|owner|author/i.test(key)
          ? 'user'
          : /command|cmdline|argv/i.test(key)
            ? 'command-line'
            : /^traceName$|file|path|dir$/i.test(key)
              ? 'path'
              : 'setting';
    this.removals.add(kind, where, kind === 'environment' ? entriesOf(json) : 1);
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
      rule = (text, note) => {
        if (text === '' || text === 'removed') return text;
        note(kind);
        return 'removed';
      };
      this.gone.set(kind, rule);
    }
    return rule;
  }
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
