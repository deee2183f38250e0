/** When an event began and how long it took: what is known of every one. */
import { formatDuration } from '../base/units.js';

export const timeFacts = (start: number, end: number) => [
  { label: 'duration', text: formatDuration(end - start) },
  { label: 'start', text: `${(start / 1e6).toFixed(6)} ms into the profile` },
];
