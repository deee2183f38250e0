/** Where the mouse is on a timeline, as a part of its width: keys zoom there. Not a signal: nothing is drawn from it. */
import type { Pane } from '../state.js';

export const pointer: { value: { readonly pane: Pane; readonly part: number } | null } = { value: null };
