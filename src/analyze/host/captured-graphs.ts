/**
 * CUDA graphs as a trace of their capture shows them: which operator added each node. Engines write such traces on
 * request. A replay records the nodes but no operators; the node at the same place is the same.
 *
 *   capture   BeginCapture [linear [addmm ▒]] [silu ▒] EndCapture      ▒ a call that adds a node
 *   replay    GraphLaunch → kernel, kernel                             addmm's, silu's
 */
import { NONE } from '../../base/column.js';
import {
  BEGIN_CAPTURE,
  COPY_CALL,
  END_CAPTURE,
  KERNEL_LAUNCH,
  MEMSET_CALL,
} from '../../catalog/host-activities.js';
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import type { CapturedCall, CapturedGraph } from '../captured-graph.js';
import { WorkKind } from '../gpu/gpu-work.js';
import { nameTest } from '../name-test.js';
import { callingModule } from './calling-module.js';
import { opCalls } from './op-calls.js';

/** `capture_32_DECODE` */
const CAPTURED_BATCH = /\bcapture_(\d+)(?:_|$)/i;

export const capturedGraphs: Derived<readonly CapturedGraph[]> = {
  id: 'captured-graphs',
  reads: { apiCalls: [], ranges: [] },
  uses: [opCalls, callingModule],
  needs: [['apiCalls']],
  compute({ profile, use }) {
    const calls = use(opCalls);
    const modules = use(callingModule);
    const api = profile.tables.apiCalls!;
    const begins = nameTest(profile, BEGIN_CAPTURE);
    const ends = nameTest(profile, END_CAPTURE);
    const tests = [
      [WorkKind.kernel, nameTest(profile, KERNEL_LAUNCH)],
      [WorkKind.copy, nameTest(profile, COPY_CALL)],
      [WorkKind.memset, nameTest(profile, MEMSET_CALL)],
    ] as const;
    const graphs: CapturedGraph[] = [];
    const open = new Map<number, Growing>();
    for (let row = 0 as Row<'apiCalls'>; row < api.length; row++) {
      const thread = api.thread[row];
      if (begins(api.name[row])) open.set(thread, new Growing(batchAt(thread, api.start[row])));
      const graph = open.get(thread);
      if (!graph) continue;
      if (ends(api.name[row])) {
        open.delete(thread);
        if (graph.nodeKind.length > 0) graphs.push(graph);
        continue;
      }
      const kind = tests.find(([, test]) => test(api.name[row]))?.[0];
      // A call of the driver inside one of the runtime adds the same node.
      if (kind === undefined || api.start[row] < graph.until) continue;
      graph.until = api.end[row];
      graph.nodeKind.push(kind);
      graph.nodeCall.push(
        graph.callOf(calls.ofApiCall[row], call => ({
          kind: calls.kinds[calls.kind[call]],
          module: modules.at(calls.thread[call], calls.start[call]),
          parent: calls.parent[call],
        })),
      );
    }
    return graphs;

    function batchAt(thread: number, moment: number): number | undefined {
      const { ranges } = profile.tables;
      for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++) {
        if (ranges!.thread[row] !== thread || ranges!.start[row] > moment || !(ranges!.end[row] > moment))
          continue;
        const match = CAPTURED_BATCH.exec(profile.strings.text(ranges!.name[row]));
        if (match) return Number(match[1]);
      }
      return undefined;
    }
  },
};

class Growing implements CapturedGraph {
  readonly calls: CapturedCall[] = [];
  readonly nodeKind: number[] = [];
  readonly nodeCall: number[] = [];
  until = -Infinity;
  private readonly known = new Map<number, number>();

  constructor(readonly batch: number | undefined) {}

  /** Index of a call of the trace, with all that called it. */
  callOf(call: number, look: (call: number) => CapturedCall): number {
    if (call === NONE) return NONE;
    let index = this.known.get(call);
    if (index === undefined) {
      const found = look(call);
      const parent = this.callOf(found.parent, look);
      index = this.calls.push({ ...found, parent }) - 1;
      this.known.set(call, index);
    }
    return index;
  }
}
