/**
 * Every colour that has a meaning, in one place for terminal, reports and web. Phases, kernel families and idle causes
 * have a palette each: phases are purple to magenta, families all other hues (Okabe and Ito's strongest for those that
 * take most time), and idle causes are drawn hatched. Found by annealing; test/palette.test.ts states what they hold:
 * the distance of any two, of each to both papers, and of neighbours in a bar for eyes without green cones.
 */

export const phaseColors = {
  prefill: '#c2175b',
  mixed: '#a65fbf',
  decode: '#5e44ba',
  speculative: '#9b98e7',
  draft: '#dbabe9',
  unknown: '#7e7880',
} as const;

export const familyColors = {
  attention: '#d55e00',
  gemm: '#0172b1',
  'moe-router': '#0f624c',
  'moe-dispatch': '#0b9e73',
  'moe-combine': '#86d2c0',
  norm: '#efe43d',
  activation: '#e69f06',
  rope: '#a1621d',
  'kv-cache': '#57e8ac',
  quantise: '#4f6190',
  sampling: '#1e2b6c',
  embedding: '#84d3ea',
  elementwise: '#3db4ef',
  reduce: '#5d79ce',
  communication: '#3ab1ba',
  copy: '#c2a36a',
  memset: '#eddab7',
  convolution: '#074a77',
  recurrence: '#f3a582',
  'sort-and-index': '#8a8f3a',
  other: '#a19b9a',
} as const;

/** What has no family: whole graph replays, and the parts of a budget that are busy. Those share the row of a rank. */
export const workColors = {
  'graph-replay': '#93a6b1',
  'graph-block': '#6f8289',
  compute: '#067e42',
  'rank-wait': '#d8a0a8',
} as const;

export const causeColors = {
  'launch-bound': '#d81b2a',
  synchronisation: '#6c417c',
  'garbage-collection': '#ff72a9',
  gil: '#831536',
  'os-call': '#4e4e4e',
  allocation: '#6c4a13',
  sampling: '#69b363',
  scheduling: '#28581b',
  'request-handling': '#acda80',
  'input-preparation': '#a9bc12',
  'host-code': '#817e70',
  'device-wait': '#a7c6ee',
  'profiler-overhead': '#c0c3b9',
  unknown: '#cacbd9',
} as const;

/** Events of the host on a timeline: quiet, so that the GPU's stand out. Launches are of one hue, which nothing else has. */
export const hostColors = {
  range: '#baae9c',
  op: '#9cb4ae',
  frame: '#b4a8ba',
  api: '#a8a28a',
  launch: '#b98774',
  'graph-launch': '#8a5a5a',
  library: '#a2a8c6',
  mark: '#9c8a78',
  'gil-hold': '#b8d4b0',
  'on-cpu-launching': '#4c8276',
  'on-cpu': '#7c9476',
} as const;

/** Idle time whose causes are not listed one by one. */
export const OTHER_IDLE = '#9aa3ad';
/** A whole that is compared, and whatever is summed up. */
export const NEUTRAL = '#7f8a93';

const idle = new Set<string>([...Object.values(causeColors), OTHER_IDLE]);

/** A colour has one meaning, so it shows whether something is idle time: that is drawn hatched. */
export const isIdleColor = (color: string | undefined): boolean => color === undefined || idle.has(color);

/** Runs, frameworks and counters: whatever has no colour of its own. */
export const seriesColors: readonly string[] = [
  '#7f8a93',
  '#0172b1',
  '#d55e00',
  '#0b9e73',
  '#a65fbf',
  '#a1621d',
  '#3db4ef',
  '#8a8f3a',
  '#c2175b',
];
