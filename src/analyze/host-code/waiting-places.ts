/** Where in the program the calls are that make the launching thread wait for the GPU: `read_lengths → aten::item`. */
import type { Row } from '../../model/profile.js';
import type { Derived } from '../analysis.js';
import { blockingCalls } from '../host/blocking-calls.js';
import { labelOf } from './hot-paths.js';
import { threadCode } from './thread-code.js';
import { threadStacks } from './thread-stacks.js';

interface WaitingPlace {
  /** Who calls, down to the CUDA call. */
  readonly label: string;
  readonly calls: number;
}

/** Most calls first. */
export const waitingPlaces: Derived<readonly WaitingPlace[]> = {
  id: 'waiting-places',
  reads: { apiCalls: [] },
  uses: [blockingCalls, threadCode, threadStacks],
  needs: [['apiCalls']],
  compute({ profile, use }) {
    const { paths } = use(threadStacks);
    const code = use(threadCode);
    const calls = profile.tables.apiCalls!;
    const byNode = new Map<number, number>();
    for (const row of use(blockingCalls)?.avoidable.rows ?? []) {
      const start = calls.start[row as Row<'apiCalls'>];
      let isFirst = true;
      code.visit(calls.thread[row as Row<'apiCalls'>], start, start + 1, ({ node }) => {
        if (isFirst) byNode.set(node, (byNode.get(node) ?? 0) + 1);
        isFirst = false;
      });
    }
    const byLabel = new Map<string, number>();
    for (const [node, count] of byNode) {
      const label = labelOf(paths, node);
      byLabel.set(label, (byLabel.get(label) ?? 0) + count);
    }
    return [...byLabel].map(([label, count]) => ({ label, calls: count })).sort((a, b) => b.calls - a.calls);
  },
};
