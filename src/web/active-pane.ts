/** Of two profiles side by side, the one touched last: panels and keys are about it. */
import { computed, signal } from '@preact/signals';
import { type Pane, panes } from './state.js';

export const activeIndex = signal(0);

export const activePane = computed((): Pane | undefined => panes.value[activeIndex.value] ?? panes.value[0]);

export function makeActive(pane: Pane): void {
  activeIndex.value = Math.max(0, panes.value.indexOf(pane));
}

/** `A` and `B`, where there are two. */
export const letterOf = (pane: Pane): string => 'AB'[panes.value.indexOf(pane)] ?? '';
