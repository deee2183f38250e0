/**
 * Blocks of kernels that repeat may be layers, not steps. A step is the outermost thing that repeats: a run of blocks
 * and what comes once between two runs (an embedding, the head, sampling), or a wait of the host.
 *
 *   kernels   abc abc abc xy abc abc abc xy abc abc abc xy
 *   blocks    |   |   |      |   |   |      |   |   |
 *   steps     |             |              |
 */
/** Runs of blocks must be as long as each other, but for those the capture cuts off. */
const FEWEST_RUNS = 2;

/**
 * The blocks that begin a step, by index; undefined where nothing outer repeats.
 * `isBreak(i)`: something other than the next block comes between block i - 1 and block i.
 */
export function outermostBlocks(
  blocks: number,
  isBreak: (block: number) => boolean,
): readonly number[] | undefined {
  const breaks = Array.from({ length: Math.max(0, blocks - 1) }, (_, i) => i + 1).filter(isBreak);
  if (breaks.length < FEWEST_RUNS) return undefined;
  const perStep = breaks[1] - breaks[0];
  // One break at every block is no structure, and runs of different length are something else.
  if (perStep < 2 || breaks.some((block, i) => i > 0 && block - breaks[i - 1] !== perStep)) return undefined;
  if (breaks[0] > perStep || blocks - breaks[breaks.length - 1] > perStep) return undefined;
  return [0, ...breaks];
}
