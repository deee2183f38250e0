/** Recorded call stacks (of samples, CUDA calls and OS calls) as names, outermost first. */
import { NONE } from '../../base/column.js';
import { type HostName, nameOfFrame, nameOfFunction, onGil } from '../../catalog/host-names.js';
import { nameOfKernelCode, nameOfLibrary, nameOfNative } from '../../catalog/native-names.js';
import type { Profile, Row } from '../../model/profile.js';
import { FrameKind } from '../../model/schema.js';
import type { CallPaths } from './call-paths.js';

/** Of deeper stacks the innermost part is named. */
const DEEPEST = 500;

export class StackNames {
  private readonly known = new Map<number, readonly HostName[]>();

  constructor(
    private readonly profile: Profile,
    private readonly paths: CallPaths,
  ) {}

  /** A sampled stack below a node. */
  below(place: number, stack: number): number {
    return this.namesOf(stack).reduce((at, name) => this.paths.child(at, name), place);
  }

  /** The callers of a recorded call below a node: libraries say nothing about them, and the call is an event itself. */
  callers(place: number, stack: number, call?: string): number {
    return this.namesOf(stack)
      .filter(
        ({ text, isVague }) => !isVague && libraryName(text) !== call && onGil(libraryName(text)) !== call,
      )
      .reduce((at, name) => this.paths.child(at, name), place);
  }

  /** What two stacks have in common, counted from the outermost; NONE: nothing. */
  common(one: number, other: number): number {
    const frames = this.profile.tables.stackFrames;
    if (!frames || one === NONE || other === NONE) return NONE;
    // Parents have smaller numbers than their children.
    let [a, b] = [one, other];
    while (a !== b && a !== NONE && b !== NONE) {
      if (a > b) a = frames.parent[a as Row<'stackFrames'>];
      else b = frames.parent[b as Row<'stackFrames'>];
    }
    return a === b ? a : NONE;
  }

  /** The innermost function is one of Python. */
  isPython(stack: number): boolean {
    return (
      stack !== NONE &&
      this.profile.tables.stackFrames!.kind[stack as Row<'stackFrames'>] === FrameKind.python
    );
  }

  hasNames(stack: number): boolean {
    return stack !== NONE && this.namesOf(stack).some(({ isVague }) => !isVague);
  }

  private namesOf(stack: number): readonly HostName[] {
    let names = this.known.get(stack);
    if (!names) {
      const rows: Row<'stackFrames'>[] = [];
      const { parent } = this.profile.tables.stackFrames!;
      for (let row = stack as Row<'stackFrames'>; row !== NONE && rows.length < DEEPEST; row = parent[row])
        rows.push(row);
      const innermost = rows.find(row => this.nameOf(row));
      const where = innermost === undefined ? undefined : this.whereIn(innermost);
      const all = [...rows.reverse().flatMap(row => this.nameOf(row) ?? []), ...(where ? [where] : [])];
      // One library after itself, or a function and its inlined self, is one name.
      names = all.filter(({ text }, i) => text !== all[i - 1]?.text);
      this.known.set(stack, names);
    }
    return names;
  }

  /** A Python function at the line that ran, not the one it begins with. */
  private whereIn(row: Row<'stackFrames'>): HostName | undefined {
    const { kind, name, module, line } = this.profile.tables.stackFrames!;
    if (kind[row] !== FrameKind.python || !line?.[row] || module[row] === NONE) return undefined;
    const { strings } = this.profile;
    return nameOfFrame(`${strings.text(module[row])}(${line[row]}): ${strings.text(name[row])}`);
  }

  private nameOf(row: Row<'stackFrames'>): HostName | undefined {
    const { kind, name, module } = this.profile.tables.stackFrames!;
    const { strings } = this.profile;
    const text = name[row] === NONE ? '' : strings.text(name[row]);
    const file = module[row] === NONE ? '' : strings.text(module[row]);
    switch (kind[row]) {
      case FrameKind.python:
        // A stack has the line that ran: one function would be many names.
        return nameOfFunction(`${file}(0): ${text}`);
      case FrameKind.kernelMode:
        return nameOfKernelCode(text);
      case FrameKind.native:
        // Words of the profiler about the stack are in brackets.
        return text.startsWith('[') ? undefined : nameOfNative(text);
      case FrameKind.unresolved:
        return file === '' || file.startsWith('[') ? undefined : nameOfLibrary(file);
      default:
        return undefined;
    }
  }
}

/** `__libc_write`, `__GI___ioctl`: functions of the C library under their inner names. */
const libraryName = (text: string) => text.replace(/^_*(?:GI_+|libc_)?/, '');
