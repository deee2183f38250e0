/** From event to event by keyboard: along a lane, to the lanes above and below, to the launch and back. */
import { selectEvent } from '../event-details.js';
import type { Pane } from '../state.js';
import { canvasOf } from './canvas-of-pane.js';

/** The event that `.` left, so that it finds back where a call launched several. */
let left: { readonly lane: number; readonly index: number } | null = null;

/** Along the lane; without a selected event, the first in view. */
export function stepEvent(pane: Pane, by: 1 | -1): boolean {
  const at = pane.event.value;
  if (!at) return selectFirst(pane);
  const count = countOf(pane, at.lane);
  const index = at.index + by;
  if (index >= 0 && index < count) selectEvent(pane, { lane: at.lane, index });
  return true;
}

const countOf = ({ document }: Pane, lane: number): number =>
  document.tracks.flatMap(track => track.lanes).find(({ id }) => id === lane)?.levels[0].length ?? 0;

/** The event nearest in time in the next lane that has one in view. */
export function changeLane(pane: Pane, by: 1 | -1): boolean {
  const at = pane.event.value;
  const details = pane.details.value;
  if (!at || !details) return selectFirst(pane);
  const timeline = canvasOf(pane);
  if (!timeline) return true;
  const lanes = timeline.lanesInOrder();
  for (let i = lanes.indexOf(at.lane) + by; i >= 0 && i < lanes.length; i += by) {
    const index = timeline.nearestIn(lanes[i], (details.startNs + details.endNs) / 2);
    if (index === undefined) continue;
    selectEvent(pane, { lane: lanes[i], index });
    return true;
  }
  return true;
}

function selectFirst(pane: Pane): boolean {
  const timeline = canvasOf(pane);
  const { fromNs } = pane.window.value;
  for (const lane of timeline?.lanesInOrder() ?? []) {
    const index = timeline!.nearestIn(lane, fromNs);
    if (index === undefined) continue;
    selectEvent(pane, { lane, index });
    return true;
  }
  return true;
}

/** To what launched the event, or to what it launched. */
export function goToLaunch(pane: Pane): boolean {
  const details = pane.details.value;
  if (!details) return true;
  const back = details.links.find(({ lane, index }) => lane === left?.lane && index === left.index);
  const target = back ?? details.links[0];
  if (!target) return true;
  left = { lane: details.lane, index: details.index };
  selectEvent(pane, { lane: target.lane, index: target.index });
  return true;
}
