/**
 * What happens to each text of an export. Texts on the list of `allowed-export.ts` are kept when they are what that place
 * is for; every other text is emptied, and a text with a NUL in it is an environment wherever it lies.
 */

import type { RecordEditor } from '../base/sqlite/record.js';
import { toldOfWord } from '../catalog/command-flags.js';
import { withoutSecrets } from '../catalog/secret-shapes.js';
import { isRequestedRange } from '../import/environment.js';
import { onlyPythonStack } from '../import/nsys-sqlite/python-stacks.js';
import { isKnownSetting, Role, type RowText, rowText } from './allowed-export.js';
import { knownDiagnostic } from './known-diagnostics.js';
import {
  isBusLocation,
  isGpuName,
  isIdentifier,
  isMoment,
  isNumbers,
  isOsName,
  isPlain,
  isSetting,
  isVersion,
} from './known-values.js';
import { isBlock, NAMING_EVENTS, type NsysFacts } from './nsys-facts.js';
import { redactRange, scrubName } from './range-names.js';
import { knownPayload } from './range-payload.js';
import type { RemovalKind, Removals } from './removals.js';
import { type NoteRemoval, scrubPath, scrubText } from './scrub-text.js';

type RowRule = (row: RecordEditor, rowId: number) => void;
type TextRule = (text: string, note: NoteRemoval, row: RecordEditor, rowId: number) => string;

const KEY_VALUE = /^(META_DATA_CAPTURE|META_DATA_EXPORT|EXPORT_META_DATA|TARGET_INFO_SYSTEM_ENV)$/;
const COMMAND_NAME = /COMMAND|ARGUMENT_\d+$|_ARGS$|CMDLINE/i;
/** Words the profiler writes about itself: names of its constants and metrics. */
const CONSTANT = /^[\w %[\]().,:/+-]{0,150}$/;
/** Ids of functions and files, and lines: the strings are judged where they stand. */
const PYTHON_STACKS = 'NVTX_EVENTS.binaryData';
/** Distinct ranges are few; a file with more of them is not worth the memory. */
const MAX_REMEMBERED = 100_000;

export class NsysRules {
  constructor(
    private readonly facts: NsysFacts,
    private readonly removals: Removals,
    private readonly hashRanges: boolean,
  ) {}

  ruleFor(table: string, columns: readonly string[]): RowRule {
    const rules = columns.map(column => this.textRule(table, column, columns));
    const beyondColumns = removed('setting');
    return (row, rowId) => {
      for (let c = 0; c < row.columns; c++) {
        const where = `${table}.${columns[c] ?? c}`;
        if (row.isBlob(c)) {
          const stack = where === PYTHON_STACKS ? onlyPythonStack(row.blob(c)) : undefined;
          if (!stack) this.removals.add('binary', where);
          row.replace(c, stack ?? '');
        }
        if (!row.isText(c)) continue;
        const text = row.text(c);
        const note: NoteRemoval = kind => this.removals.add(kind, where);
        const fresh = isBlock(text)
          ? this.environment(text, where)
          : (rules[c] ?? beyondColumns)(text, note, row, rowId);
        if (fresh !== text) row.replace(c, fresh);
      }
    };
  }

  private textRule(table: string, column: string, columns: readonly string[]): TextRule {
    if (table === 'StringIds') {
      // An INTEGER PRIMARY KEY is the row id itself and not in the record.
      const id = columns.indexOf('id');
      return (text, note, row, rowId) =>
        this.pooled(text, Number.isNaN(row.number(id)) ? rowId : row.number(id), note);
    }
    if (KEY_VALUE.test(table)) {
      const name = columns.indexOf('name');
      if (column === 'value') return (text, note, row) => this.setting(row.text(name), text, note);
      if (column === 'name') return keptWhen(text => isKnownSetting(withoutProcess(text)), 'setting');
    }
    const kind = rowText(table, column);
    return kind ? this.rowRule(kind, columns) : keptWhen(isNumbersOrPlain, removalOf(column));
  }

  private rowRule(kind: RowText, columns: readonly string[]): TextRule {
    const { identities } = this.facts;
    switch (kind) {
      case 'constant':
      case 'metric':
        return this.remembering((text, note) =>
          CONSTANT.test(text) ? scrubText(text, identities, note) : removed('setting')(text, note),
        );
      case 'diagnostic':
        return this.remembering((text, note) => knownDiagnostic(text, () => note('setting')));
      case 'gpu-name':
        return keptWhen(isGpuName, 'machine');
      case 'place':
        return keptWhen(isBusLocation, 'machine');
      case 'payload':
        return this.remembering((text, note) => knownPayload(text, () => note('setting')));
      case 'process': {
        const id = columns.indexOf('globalPid');
        return (text, note, row) => this.processName(text, row.number(id), note);
      }
      case 'range': {
        const type = columns.indexOf('eventType');
        const range = this.remembering((text, note) => redactRange(text, identities, this.hashRanges, note));
        return (text, note, row, rowId) =>
          NAMING_EVENTS.has(row.number(type))
            ? scrubName(text, identities, note)
            : range(text, note, row, rowId);
      }
      case 'time':
        return keptWhen(isMoment, 'setting');
    }
  }

  private pooled(text: string, id: number, note: NoteRemoval): string {
    const { identities, roles } = this.facts;
    switch (roles.get(id) ?? Role.none) {
      case Role.kernel:
        return withoutSecrets(text, () => note('secret'));
      case Role.range:
        return redactRange(text, identities, this.hashRanges, note);
      case Role.function:
        // `dlopen(/home/…)` is a function's name, too.
        return isIdentifier(text)
          ? withoutSecrets(text, () => note('secret'))
          : scrubName(text, identities, note);
      case Role.name:
        return scrubName(text, identities, note);
      case Role.path:
        return scrubPath(text, identities, note);
      case Role.payload:
        return knownPayload(text, () => note('setting'));
      default:
        return removed('unnamed')(text, note);
    }
  }

  private setting(fullName: string, value: string, note: NoteRemoval): string {
    const name = withoutProcess(fullName);
    if (/ENVIRONMENT/i.test(name))
      return isRequestedRange(value) ? value : removed('environment')(value, note);
    if (COMMAND_NAME.test(name)) {
      const kept = toldOfWord(value);
      if (kept !== value) note('command-line');
      return kept;
    }
    if (/USER/i.test(name)) return removed('user')(value, note);
    if (/HOST|DEVICE_DISPLAY_NAME/i.test(name)) return removed('host')(value, note);
    if (/UUID|UID$|SERIAL|SESSION_ID/i.test(name)) return removed('machine')(value, note);
    if (isSetting(value) || isMoment(value) || isNumbers(value)) return value;
    if (/version/i.test(name) && isVersion(value)) return value;
    if (name === 'OsDescription' && isOsName(value)) return value;
    return removed(/DIR$|PATH|FILE$/i.test(name) ? 'path' : 'setting')(value, note);
  }

  /** Importers take the last part themselves, so nothing is lost by writing only that. */
  private processName(text: string, globalPid: number, note: NoteRemoval): string {
    // Machine ids are small: the number is exact.
    const pid = Math.floor(globalPid / 2 ** 24) % 2 ** 24;
    const machine = Math.floor(globalPid / 2 ** 48);
    if (!this.facts.processes.has(`${machine}/${pid}`)) return removed('process-name')(text, note);
    const last = text.split('/').pop()!;
    if (last !== text) note('path');
    return scrubName(last, this.facts.identities, note);
  }

  /** All but the range of iterations that was asked for, which an analysis reads; the NUL marks it as what it is. */
  private environment(block: string, where: string): string {
    const parts = block.split('\0').filter(part => part !== '');
    const kept = parts.filter(isRequestedRange);
    const left = kept.map(part => `${part}\0`).join('');
    if (left !== block) this.removals.add('environment', where, Math.max(1, parts.length - kept.length));
    return left;
  }

  /** Each distinct text is judged once. */
  private remembering(rule: (text: string, note: NoteRemoval) => string): TextRule {
    const known = new Map<string, { text: string; kinds: readonly RemovalKind[] }>();
    return (text, note) => {
      let answer = known.get(text);
      if (!answer) {
        const kinds: RemovalKind[] = [];
        answer = { text: rule(text, kind => kinds.push(kind)), kinds };
        if (known.size >= MAX_REMEMBERED) known.clear();
        known.set(text, answer);
      }
      answer.kinds.forEach(note);
      return answer.text;
    };
  }
}

function removed(kind: RemovalKind): (text: string, note: NoteRemoval) => string {
  return (text, note) => {
    if (text !== '') note(kind);
    return '';
  };
}

/** Some settings stand once per process. */
const withoutProcess = (name: string): string => name.replace(/^PROCESS_\d+:/, '');

const isNumbersOrPlain = (text: string): boolean => isPlain(text) || isNumbers(text);

function keptWhen(isFine: (text: string) => boolean, kind: RemovalKind): TextRule {
  const gone = removed(kind);
  return (text, note) => (isFine(text) ? text : gone(text, note));
}

/** What the list of removals calls a text that nothing reads, by the column it stood in. */
function removalOf(column: string): RemovalKind {
  if (/^(content|binaryData)$/i.test(column)) return 'output';
  if (/uuid|serial|guid$/i.test(column)) return 'machine';
  if (/command_?line|cmdline/i.test(column)) return 'command-line';
  if (/^host_?(name)?$|stateName$/i.test(column)) return 'host';
  if (/^user_?(name)?$/i.test(column)) return 'user';
  return /file|path|module/i.test(column) ? 'path' : 'setting';
}
