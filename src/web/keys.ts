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
      { action: 'step-back', keys: ['ArrowLeft'], shown: ['←'], does: 'the step before' },
      { action: 'step-on', keys: ['ArrowRight'], shown: ['→'], does: 'the step after' },
      {
        action: 'extend-back',
        keys: ['ArrowLeft'],
        shift: true,
        shown: ['Shift', '←'],
        does: 'extend the selection back',
      },
      {
        action: 'extend-on',
        keys: ['ArrowRight'],
        shift: true,
        shown: ['Shift', '→'],
        does: 'extend the selection on',
      },
      { action: 'median-step', keys: ['m'], shown: ['m'], does: 'a typical step: the median of its phase' },
      { action: 'slowest-step', keys: ['x'], shown: ['x'], does: 'the slowest step' },
      { action: 'first-decode', keys: ['g'], shown: ['g'], does: 'the first step that generates' },
      { action: 'first-step', keys: ['Home'], shown: ['Home'], does: 'the first step' },
      { action: 'last-step', keys: ['End'], shown: ['End'], does: 'the last step' },
      { shown: ['drag'], does: 'on the strip: select a range; Shift-click extends' },
    ],
  },
  {
    title: 'Timeline',
    bindings: [
      { action: 'zoom-in', keys: ['w'], shown: ['w'], does: 'zoom in' },
      { action: 'zoom-out', keys: ['s'], shown: ['s'], does: 'zoom out' },
      { action: 'pan-left', keys: ['a'], shown: ['a'], does: 'move left' },
      { action: 'pan-right', keys: ['d'], shown: ['d'], does: 'move right' },
      { shown: ['drag'], does: 'move; on the ruler: zoom to a stretch' },
      { shown: ['Ctrl', 'wheel'], does: 'zoom at the mouse' },
      { shown: ['Shift', 'drag'], does: 'measure' },
      { shown: ['2 clicks'], does: 'zoom to an event' },
      { action: 'fit', keys: ['f'], shown: ['f'], does: 'show the selected event or steps' },
      { action: 'whole', keys: ['0'], shown: ['0'], does: 'show the whole profile' },
    ],
  },
  {
    title: 'Search',
    bindings: [
      { action: 'search', keys: ['/'], shown: ['/'], does: 'go to the search box' },
      { action: 'next-match', keys: ['n'], shown: ['n'], does: 'the next match' },
      {
        action: 'previous-match',
        keys: ['n'],
        shift: true,
        shown: ['Shift', 'n'],
        does: 'the match before',
      },
    ],
  },
  {
    title: 'Page',
    bindings: [
      { action: 'next-panel', keys: ['p'], shown: ['p'], does: 'the next panel' },
      { action: 'clear', keys: ['Escape'], shown: ['Esc'], does: 'close, then clear what is selected' },
      { action: 'theme', keys: ['t'], shown: ['t'], does: 'light or dark' },
      { action: 'help', keys: ['?'], shown: ['?'], does: 'this list' },
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
