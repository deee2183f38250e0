/** How the person at the page wants tracks laid out. */
import { moved, pinned, rowHeight, toggled, trackFilter } from '../state.js';
import type { LayoutWishes } from './layout.js';

export const layoutWishes = (): LayoutWishes => ({
  pinned: pinned.value,
  toggled: toggled.value,
  moved: moved.value,
  filter: trackFilter.value,
  rowHeight: rowHeight.value,
});
