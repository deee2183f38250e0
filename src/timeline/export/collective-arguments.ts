/** What a collective moves, as the PyTorch profiler writes it next to the kernel (torch's ParamCommsUtils). */
import type { TraceArgument } from './trace-event.js';

const names: Readonly<Record<string, string>> = {
  collective: 'Collective name',
  inElements: 'In msg nelems',
  outElements: 'Out msg nelems',
  elementType: 'dtype',
  groupSize: 'Group size',
  group: 'Process Group Name',
  ranks: 'Process Group Ranks',
  source: 'Src Rank',
  destination: 'Dst Rank',
};

/** `message`: as catalog/messages.ts writes it. */
export function collectiveArguments(message: string): Record<string, TraceArgument> {
  let values: Record<string, unknown>;
  try {
    values = JSON.parse(message) as Record<string, unknown>;
  } catch {
    return {};
  }
  return Object.fromEntries(
    Object.entries(names).flatMap(([key, name]) => {
      const value = values[key];
      return typeof value === 'number' || typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}
