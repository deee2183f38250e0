/**
 * The part of the model that a moment of a thread belongs to: the innermost `nn.Module` frame, otherwise the innermost
 * range of the program that is not the marker of a step. All layers are one: `layer.*.mlp`.
 */
import { NONE } from '../../base/column.js';
import { Innermost } from '../../base/innermost.js';
import { matchMarker } from '../../catalog/engine-markers.js';
import { layerOf } from '../../catalog/layer-names.js';
import { markedOperator } from '../../catalog/operator-ranges.js';
import type { Profile, Row } from '../../model/profile.js';
import { RangeKind } from '../../model/schema.js';
import type { Derived } from '../analysis.js';

interface CallingModule {
  /** Empty where nothing names one. Moments of one thread should grow. */
  at(thread: number, moment: number): string;
}

interface Named {
  readonly start: number;
  readonly end: number;
  readonly name: number;
}

/** Instances of one module are numbered: `nn.Module: LlamaAttention_3`. */
const MODULE = /^nn\.Module: (.+?)(?:_\d+)?$/;

export const callingModule: Derived<CallingModule> = {
  id: 'calling-module',
  reads: { frames: [], ranges: [] },
  uses: [],
  compute({ profile }) {
    const modules = lookups(profile, framesOf(profile));
    const ranges = lookups(profile, rangesOf(profile));
    const words = new Map<number, string>();
    const word = (name: number) => {
      let known = words.get(name);
      if (known === undefined) {
        const text = profile.strings.text(name).replace(/, (?:op_id|seq|sizes) = .*$/s, '');
        known = MODULE.exec(text)?.[1] ?? (layerOf(text) ? text.replace(/\d+/, '*') : text);
        words.set(name, known);
      }
      return known;
    };
    return {
      at(thread, moment) {
        for (const found of [modules(thread), ranges(thread)]) {
          const place = found?.lookup.at(moment) ?? NONE;
          if (place !== NONE) return word(found!.list[place].name);
        }
        return '';
      },
    };
  },
};

function lookups(profile: Profile, byThread: ReadonlyMap<number, Named[]>) {
  const known = profile.threads.map((_, thread) => {
    const list = byThread.get(thread)?.sort((a, b) => a.start - b.start || b.end - a.end);
    return list && { list, lookup: new Innermost(list) };
  });
  return (thread: number) => known[thread];
}

function framesOf({ tables: { frames }, strings }: Profile): Map<number, Named[]> {
  const isModule: (boolean | undefined)[] = [];
  const byThread = new Map<number, Named[]>();
  for (let row = 0 as Row<'frames'>; row < (frames?.length ?? 0); row++) {
    const name = frames!.name[row];
    if (frames!.thread[row] === NONE || name === NONE) continue;
    if (!(isModule[name] ??= MODULE.test(strings.text(name)))) continue;
    push(byThread, frames!.thread[row], { start: frames!.start[row], end: frames!.end[row], name });
  }
  return byThread;
}

function rangesOf({ tables: { ranges }, strings }: Profile): Map<number, Named[]> {
  const isOwn: (boolean | undefined)[] = [];
  const byThread = new Map<number, Named[]>();
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
    const name = ranges!.name[row];
    const hasDomain = ranges!.domain[row] !== NONE;
    if (ranges!.kind[row] !== RangeKind.pushPop || ranges!.thread[row] === NONE || name === NONE || hasDomain)
      continue;
    if (!(isOwn[name] ??= isModuleName(strings.text(name)))) continue;
    push(byThread, ranges!.thread[row], { start: ranges!.start[row], end: ranges!.end[row], name });
  }
  return byThread;
}

const isModuleName = (text: string): boolean =>
  markedOperator(text) === undefined && matchMarker(text) === undefined;

function push(byThread: Map<number, Named[]>, thread: number, named: Named): void {
  if (!(named.end >= named.start)) return;
  const list = byThread.get(thread);
  if (list) list.push(named);
  else byThread.set(thread, [named]);
}
