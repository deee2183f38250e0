/** What keys and buttons do to the selected steps. */
import { say } from '../announce.js';
import type { Action } from '../keys.js';
import { type Pane, selectSteps } from '../state.js';
import { firstDecode, medianStep, slowestStep } from './choose-step.js';
import { spokenSpan } from './step-words.js';

/** True where the action was about steps. */
export function stepAction(pane: Pane, action: Action): boolean {
  const { steps, palettes } = pane.document;
  const selected = pane.steps.value;
  const last = steps.length - 1;
  if (last < 0) return false;
  const one = (step: number) => step >= 0 && select(pane, step, step);
  switch (action) {
    case 'step-back':
      one(selected ? Math.max(0, selected.first - 1) : last);
      return true;
    case 'step-on':
      one(selected ? Math.min(last, selected.last + 1) : 0);
      return true;
    case 'extend-back':
      if (selected) select(pane, Math.max(0, selected.first - 1), selected.last);
      return true;
    case 'extend-on':
      if (selected) select(pane, selected.first, Math.min(last, selected.last + 1));
      return true;
    case 'first-step':
      one(0);
      return true;
    case 'last-step':
      one(last);
      return true;
    case 'median-step':
      one(medianStep(steps, selected?.first ?? null));
      return true;
    case 'slowest-step':
      one(slowestStep(steps));
      return true;
    case 'first-decode':
      one(firstDecode(steps, palettes.phase));
      return true;
    default:
      return false;
  }
}

function select(pane: Pane, first: number, last: number): void {
  selectSteps(pane, { first, last });
  say(spokenSpan(pane.document, { first, last }));
}
