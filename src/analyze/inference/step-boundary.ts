/**
 * Where one step ends on a device and the next begins, when their work overlaps: an early copy of the next step, a late
 * one of this step, kernels on a second stream. The moment that leaves least work on the wrong side of it.
 *
 *   own    ▄▄▄▄▄▄▄▄▄▄  ▄        a late copy
 *   next      ▅       ▅▅▅▅▅▅▅   an early one
 *                    |
 */
interface Pieces {
  readonly start: ArrayLike<number>;
  readonly end: ArrayLike<number>;
}

export function leastMisplaced(
  pieces: Pieces,
  own: ArrayLike<number>,
  next: ArrayLike<number>,
  from: number,
  to: number,
): number {
  // What lies behind a moment grows as it moves on: less of `own` misplaced while one of it runs, more of `next`.
  const turns: { at: number; slope: number }[] = [];
  const add = (indexes: ArrayLike<number>, slope: number) => {
    for (let i = 0; i < indexes.length; i++) {
      const start = Math.max(from, pieces.start[indexes[i]]);
      const end = Math.min(to, pieces.end[indexes[i]]);
      if (start >= end) continue;
      turns.push({ at: start, slope }, { at: end, slope: -slope });
    }
  };
  add(own, -1);
  add(next, 1);
  turns.sort((a, b) => a.at - b.at);
  let misplaced = 0;
  let least = 0;
  let best = from;
  let slope = 0;
  let at = from;
  for (const turn of turns) {
    misplaced += slope * (turn.at - at);
    at = turn.at;
    slope += turn.slope;
    if (misplaced < least) {
      least = misplaced;
      best = at;
    }
  }
  return best;
}
