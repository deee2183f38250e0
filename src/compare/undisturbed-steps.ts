/** How long steps take when nobody records them, where that is known of both sides. */
import type { FigureChange } from './details.js';

interface UndisturbedStep {
  readonly how: 'measured' | 'estimated';
  readonly ns: number;
}

export interface UndisturbedSteps {
  readonly from: UndisturbedStep;
  readonly to: UndisturbedStep;
}

export function undisturbedSteps(figures: readonly FigureChange[]): UndisturbedSteps | undefined {
  const read = (side: 'from' | 'to') =>
    (['measured', 'estimated'] as const).flatMap(how => {
      const value = figures.find(({ id }) => id === `undisturbed-step/${how}`)?.[side];
      return value === null || value === undefined ? [] : [{ how, ns: value }];
    })[0];
  const [from, to] = [read('from'), read('to')];
  return from && to && from.ns > 0 ? { from, to } : undefined;
}
