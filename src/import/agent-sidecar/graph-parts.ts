/** The sidecar's `graphs`: which nodes of a captured graph belong to which part of the model. */

import { isJsonObject, type JsonObject } from '../../base/json/json-object.js';
import type { ProfileBuilder } from '../../model/builder.js';
import type { ProcessRow } from '../../model/profile.js';
import { countIn } from './sidecar-fields.js';

/** Graphs of models have thousands of nodes; more than this is no count of the agent's. */
const MOST_NODES = 1 << 22;

interface PartRow {
  readonly start: number;
  readonly end: number;
  readonly thread: number;
  readonly name: number;
  readonly captured: number;
  readonly firstNode: number;
  readonly endNode: number;
  readonly firstKernel: number;
  readonly endKernel: number;
  readonly nodes: number;
  readonly kernels: number;
  readonly isChain: number;
}

export function addGraphParts(
  builder: ProfileBuilder,
  process: ProcessRow,
  document: JsonObject,
  file: string,
): void {
  const graphs = Array.isArray(document.graphs) ? document.graphs.filter(isJsonObject) : [];
  const rows = graphs.flatMap((graph, captured) => partsOf(builder, process, graph, captured, file));
  rows.sort((a, b) => a.start - b.start || a.captured - b.captured);
  const left = countIn(document.graphsLeftOut);
  if (left > 0)
    builder.notes.add(
      'agent-graphs-left-out',
      'loss',
      'graphs were not recorded by the agent (limit reached)',
      file,
      left,
    );
  if (rows.length === 0) return;
  const whole = (key: keyof PartRow) => Int32Array.from(rows, row => row[key]);
  const time = (key: 'start' | 'end') => Float64Array.from(rows, row => row[key]);
  builder.addTable(
    'graphParts',
    {
      start: time('start'),
      end: time('end'),
      thread: whole('thread'),
      name: whole('name'),
      captured: whole('captured'),
      firstNode: whole('firstNode'),
      endNode: whole('endNode'),
      firstKernel: whole('firstKernel'),
      endKernel: whole('endKernel'),
      nodes: whole('nodes'),
      kernels: whole('kernels'),
      isChain: Uint8Array.from(rows, row => row.isChain),
    },
    rows.length,
  );
}

function partsOf(
  builder: ProfileBuilder,
  process: ProcessRow,
  graph: JsonObject,
  captured: number,
  file: string,
): PartRow[] {
  const [nodes, kernels] = [countIn(graph.nodes), countIn(graph.kernels)];
  const start = Number(graph.startNs);
  const duration = Number(graph.durationNs);
  const refuse = () => builder.notes.add('agent-graphs', 'loss', 'invalid graph parts were left out', file);
  if (
    !Array.isArray(graph.parts) ||
    nodes > MOST_NODES ||
    kernels > nodes ||
    !(Number.isFinite(start) && duration >= 0)
  ) {
    refuse();
    return [];
  }
  const ofGraph = {
    start,
    end: start + duration,
    thread: builder.thread(process, countIn(graph.thread)),
    captured,
    nodes,
    kernels,
    isChain: graph.isChain === true ? 1 : 0,
  };
  return graph.parts.filter(isJsonObject).flatMap((part): PartRow[] => {
    const [firstNode, endNode] = [countIn(part.firstNode), countIn(part.endNode)];
    const [firstKernel, endKernel] = [countIn(part.firstKernel), countIn(part.endKernel)];
    if (
      typeof part.name !== 'string' ||
      !(firstNode < endNode && endNode <= nodes && firstKernel <= endKernel && endKernel <= kernels)
    ) {
      refuse();
      return [];
    }
    return [
      { ...ofGraph, name: builder.strings.intern(part.name), firstNode, endNode, firstKernel, endKernel },
    ];
  });
}
