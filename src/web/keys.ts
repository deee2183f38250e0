/**
 * Every key of the page in one table. Handlers ask `actionOf`, the help draws `keyGroups`: what the help says is what
 * happens. Keys of the mouse are only said.
 */
export type Action =
  | 'step-back'
  | 'step-on'
  | 'extend-back'
  | 'extend-on'
  | 'first-step'
  | 'last-step'
  | 'median-step'
  | 'slowest-step'
  | 'first-decode'
  | 'clear'
  | 'search'
  | 'next-match'
  | 'previous-match'
  | 'zoom-in'
  | 'zoom-out'
  | 'pan-left'
  | 'pan-right'
  | 'fit'
  | 'whole'
  | 'undo'
  | 'previous-event'
  | 'next-event'
  | 'event-above'
  | 'event-below'
  | 'launch'
  | 'next-panel'
  | 'theme'
  | 'help';

interface KeyBinding {
  readonly does: string;
  /** As drawn on key caps. */
  readonly shown: readonly string[];
  /** Values of KeyboardEvent.key; letters in lower case. */
  readonly keys?: readonly string[];
  readonly shift?: true;
  readonly action?: Action;
}

interface KeyGroup {
  readonly title: string;
  readonly bindings: readonly KeyBinding[];
}

export const keyGroups: readonly KeyGroup[] = [
  {
    title: 'Steps',
    bindings: [
      { action: 'step-back', keys: ['ArrowLeft'], shown: ['←'], does: 'previous step' },
      { action: 'step-on', keys: ['ArrowRight'], shown: ['→'], does: 'next step' },
      {
        action: 'extend-back',
        keys: ['ArrowLeft'],
        shift: true,
        shown: ['Shift', '←'],
        does: 'extend the selection to the previous step',
      },
      {
        action: 'extend-on',
        keys: ['ArrowRight'],
        shift: true,
        shown: ['Shift', '→'],
        does: 'extend the selection to the next step',
      },
      { action: 'median-step', keys: ['m'], shown: ['m'], does: 'typical step: the median of its phase' },
      { action: 'slowest-step', keys: ['x'], shown: ['x'], does: 'slowest step' },
      { action: 'first-decode', keys: ['g'], shown: ['g'], does: 'first decode step' },
      { action: 'first-step', keys: ['Home'], shown: ['Home'], does: 'first step' },
      { action: 'last-step', keys: ['End'], shown: ['End'], does: 'last step' },
      { shown: ['drag'], does: 'on the strip: select a range; Shift-click extends' },
    ],
  },
  {
    title: 'Timeline',
    bindings: [
      { action: 'zoom-in', keys: ['w'], shown: ['w'], does: 'zoom in at the pointer' },
      { action: 'zoom-out', keys: ['s'], shown: ['s'], does: 'zoom out at the pointer' },
      { action: 'pan-left', keys: ['a'], shown: ['a'], does: 'pan left' },
      { action: 'pan-right', keys: ['d'], shown: ['d'], does: 'pan right' },
      {
        shown: ['wheel'],
        does: 'zoom at the pointer; on the track names: scroll. On a touch screen: two fingers',
      },
      { shown: ['Shift', 'wheel'], does: 'scroll the tracks' },
      { shown: ['drag'], does: 'pan and scroll; on the ruler: zoom to a time range' },
      { shown: ['Shift', 'drag'], does: 'select an area: its events in numbers' },
      { shown: ['Shift', 'click'], does: 'measure from the selected event' },
      { shown: ['double-click'], does: 'zoom to an event' },
      { action: 'fit', keys: ['f'], shown: ['f'], does: 'zoom to what is selected: event, area, steps' },
      { action: 'whole', keys: ['0'], shown: ['0'], does: 'zoom to the whole profile' },
      { action: 'undo', keys: ['Backspace'], shown: ['Backspace'], does: 'back to the view before' },
    ],
  },
  {
    title: 'Events',
    bindings: [
      { action: 'previous-event', keys: ['['], shown: ['['], does: 'previous event of the lane' },
      { action: 'next-event', keys: [']'], shown: [']'], does: 'next event of the lane' },
      { action: 'event-above', keys: ['ArrowUp'], shown: ['↑'], does: 'event in the lane above' },
      { action: 'event-below', keys: ['ArrowDown'], shown: ['↓'], does: 'event in the lane below' },
      { action: 'launch', keys: ['.'], shown: ['.'], does: 'to the launch of an event, and back' },
    ],
  },
  {
    title: 'Search',
    bindings: [
      { action: 'search', keys: ['/'], shown: ['/'], does: 'focus the search box' },
      { action: 'next-match', keys: ['n'], shown: ['n'], does: 'next match' },
      {
        action: 'previous-match',
        keys: ['n'],
        shift: true,
        shown: ['Shift', 'n'],
        does: 'previous match',
      },
    ],
  },
  {
    title: 'Page',
    bindings: [
      { action: 'next-panel', keys: ['p'], shown: ['p'], does: 'next panel' },
      { action: 'clear', keys: ['Escape'], shown: ['Esc'], does: 'close, then clear the selection' },
      { action: 'theme', keys: ['t'], shown: ['t'], does: 'switch between light and dark theme' },
      { action: 'help', keys: ['?'], shown: ['?'], does: 'show keyboard shortcuts' },
    ],
  },
];

interface Pressed {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** Chords with Ctrl, Alt or the command key belong to the browser. Signs are typed with Shift on some keyboards. */
export function actionOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Pressed): Action | null {
  if (ctrlKey || metaKey || altKey) return null;
  const isSign = key.length === 1 && !/[a-z]/i.test(key);
  const name = key.length === 1 ? key.toLowerCase() : key;
  for (const { bindings } of keyGroups)
    for (const { keys, shift, action } of bindings)
      if (action && keys?.includes(name) && (isSign || (shift === true) === shiftKey)) return action;
  return null;
}
