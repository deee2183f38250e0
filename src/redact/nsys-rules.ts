/**
 * What happens to each text of an export. Metadata is kept by list, everything else is searched; a text with a NUL in
 * it is an environment wherever it lies.
 */

import type { RecordEditor } from '../base/sqlite/record.js';
import { toldOfWord } from '../catalog/command-flags.js';
import { isRequestedRange } from '../import/environment.js';
import { isBlock, type NsysFacts, Role } from './nsys-facts.js';
import { redactRange, scrubName } from './range-names.js';
import type { RemovalKind, Removals } from './removals.js';
import { type NoteRemoval, scrubPath, scrubText } from './scrub-text.js';

type RowRule = (row: RecordEditor, rowId: number) => void;
type TextRule = (text: string, note: NoteRemoval, row: RecordEditor, rowId: number) => string;

const KEY_VALUE = /^(META_DATA_CAPTURE|META_DATA_EXPORT|EXPORT_META_DATA|TARGET_INFO_SYSTEM_ENV)$/;
const PLAIN_VALUE = /^(true|false|-?\d+(\.\d+){0,2})?$/;
/** Four numbers with dots are a version here and an address elsewhere. */
const VERSION = /^[\w.+ -]*$/;
/** Metadata that says how was recorded and on what kind of machine. */
const KEPT_NAME =
  /^(CAPTURE_EVENT_TYPE|OS_RUNTIME_OPTIONS:.*|CUDA_.*|DEVICE_TYPE|HOW_TO_ATTACH|.*(MODE|SCOPE|TRIGGER|TRIGGER_TYPE)|EXPORT_(ARCH|PLATFORM|PRODUCT_.*|SCHEMA_.*|TIME.*|PARAM_EXPORT_TYPE)|Cpu.*|Cuda.*|GpuInfo|GpuMetrics.*|LinuxPerfInfo|OsDescription|.*Version|.*Platform|Supported.*)$/;
const COMMAND_NAME = /COMMAND|ARGUMENT_\d+$|_ARGS$|CMDLINE/i;
const NAMING_EVENTS = new Set([33, 39, 75]);
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
    const anyText: TextRule = (text, note) => scrubText(text, this.facts.identities, note);
    return (row, rowId) => {
      for (let c = 0; c < row.columns; c++) {
        const where = `${table}.${columns[c] ?? c}`;
        if (row.isBlob(c)) {
          this.removals.add('binary', where);
          row.replace(c, '');
        }
        if (!row.isText(c)) continue;
        const text = row.text(c);
        const note: NoteRemoval = kind => this.removals.add(kind, where);
        const fresh = isBlock(text)
          ? this.environment(text, where)
          : (rules[c] ?? anyText)(text, note, row, rowId);
        if (fresh !== text) row.replace(c, fresh);
      }
    };
  }

  private textRule(table: string, column: string, columns: readonly string[]): TextRule {
    const { identities } = this.facts;
    if (table === 'StringIds') {
      // An INTEGER PRIMARY KEY is the row id itself and not in the record.
      const id = columns.indexOf('id');
      return (text, note, row, rowId) =>
        this.pooled(text, Number.isNaN(row.number(id)) ? rowId : row.number(id), note);
    }
    if (KEY_VALUE.test(table)) {
      const name = columns.indexOf('name');
      if (column === 'value') return (text, note, row) => this.setting(row.text(name), text, note);
    }
    if (table === 'NVTX_EVENTS' && /^(text|jsonText)$/.test(column)) {
      const type = columns.indexOf('eventType');
      const remembered = this.remembering((text, note) =>
        redactRange(text, identities, this.hashRanges, note),
      );
      return (text, note, row, rowId) =>
        NAMING_EVENTS.has(row.number(type))
          ? scrubName(text, identities, note)
          : remembered(text, note, row, rowId);
    }
    if (table === 'PROCESSES') {
      const id = columns.indexOf('globalPid');
      return (text, note, row) => this.processName(text, row.number(id), note);
    }
    if (/^(content|binaryData)$/i.test(column)) return removed(table === 'NVTX_EVENTS' ? 'binary' : 'output');
    if (/uuid|serial|guid$/i.test(column)) return removed('machine');
    if (/command_?line|cmdline/i.test(column)) return removed('command-line');
    if (/^host_?(name)?$/i.test(column)) return removed('host');
    // How the machine was reached: `Local (CLI)`, or an account on another one.
    if (/stateName$/i.test(column))
      return (text, note) => (/^Local\b/.test(text) ? text : removed('host')(text, note));
    if (/^user_?(name)?$/i.test(column)) return removed('user');
    if (/file|path|module/i.test(column)) return (text, note) => scrubPath(text, identities, note);
    return this.remembering((text, note) => scrubText(text, identities, note));
  }

  private pooled(text: string, id: number, note: NoteRemoval): string {
    const { identities, roles } = this.facts;
    switch (roles.get(id) ?? Role.none) {
      case Role.kernel:
        return text;
      case Role.range:
        return redactRange(text, identities, this.hashRanges, note);
      // `dlopen(/home/…)` is a function's name, too.
      case Role.function:
      case Role.text:
        return scrubName(text, identities, note);
      case Role.path:
        return scrubPath(text, identities, note);
      case Role.output:
        return removed('output')(text, note);
      default:
        return removed('unnamed')(text, note);
    }
  }

  private setting(fullName: string, value: string, note: NoteRemoval): string {
    const { identities } = this.facts;
    const name = fullName.replace(/^PROCESS_\d+:/, '');
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
    if (PLAIN_VALUE.test(value)) return value;
    if (/DIR$|PATH|FILE$/i.test(name)) return scrubPath(value, identities, note);
    if (/version/i.test(name) && VERSION.test(value)) return value;
    if (KEPT_NAME.test(name)) return scrubText(value, identities, note);
    return removed('setting')(value, note);
  }

  /** Importers take the last part themselves, so nothing is lost by writing only that. */
  private processName(text: string, globalPid: number, note: NoteRemoval): string {
    // Machine ids are small: the number is exact.
    const pid = Math.floor(globalPid / 2 ** 24) % 2 ** 24;
    const machine = Math.floor(globalPid / 2 ** 48);
    if (!this.facts.processes.has(`${machine}/${pid}`)) return removed('process-name')(text, note);
    const last = text.split('/').pop()!;
    if (last !== text) note('path');
    return scrubText(last, this.facts.identities, note);
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
