/** What is selected, or else what is in the window, as a file. */
import { formatDuration } from '../../base/units.js';
import { withoutEndings } from '../../catalog/file-formats.js';
import type { StepsDocument } from '../../timeline/wire.js';
import { activePane } from '../active-pane.js';
import { notify } from '../announce.js';
import { asProblem } from '../documents.js';
import { isOffline } from '../offline/offline.js';
import type { Pane, TimeWindow } from '../state.js';
import { timelinePng } from '../timeline/png.js';
import { timelineSvg } from '../timeline/svg.js';
import { Menu } from './menu.js';

interface Selection extends TimeWindow {
  readonly words: string;
  readonly fileName: string;
}

function selectionOf({ steps, window, document, name }: Pane): Selection {
  const span = steps.value;
  const base = withoutEndings(name).replace(/[^\w.-]+/g, '-') || 'profile';
  if (!span) {
    const { fromNs, toNs } = wholeSteps(document.steps, window.value);
    return {
      fromNs,
      toNs,
      words: `the visible range, ${formatDuration(toNs - fromNs)}`,
      fileName: `${base}-window`,
    };
  }
  const { iteration, startNs, endNs } = document.steps;
  const [first, last] = [iteration[span.first], iteration[span.last]];
  const numbers = first === last ? `${first}` : `${first}-${last}`;
  return {
    fromNs: startNs[span.first],
    toNs: endNs[span.last],
    words: `${first === last ? 'step' : 'steps'} ${numbers.replace('-', '–')}`,
    fileName: `${base}-step-${numbers}`,
  };
}

/** What is in view, up to the ends of the steps in it: half a step would be another verdict. */
function wholeSteps({ startNs, endNs, length }: StepsDocument, { fromNs, toNs }: TimeWindow): TimeWindow {
  let [from, to] = [fromNs, toNs];
  for (let i = 0; i < length; i++) {
    const middle = (startNs[i] + endNs[i]) / 2;
    if (middle < fromNs || middle > toNs) continue;
    from = Math.min(from, startNs[i]);
    to = Math.max(to, endNs[i]);
  }
  return { fromNs: from, toNs: to };
}

export function SaveMenu() {
  const pane = activePane.value;
  if (!pane) return null;
  return <Menu label="Save">{close => <Entries pane={pane} close={close} />}</Menu>;
}

function Entries({ pane, close }: { readonly pane: Pane; readonly close: () => void }) {
  const { words, fileName, fromNs, toNs } = selectionOf(pane);
  const href = (file: string) =>
    `/api/profiles/${pane.id}/${file}?from=${Math.floor(fromNs)}&to=${Math.ceil(toNs)}`;
  return (
    <>
      <p class="menu-title">Save {words}</p>
      {!isOffline && (
        <>
          <a href={href('trace.json')} download={`${fileName}.trace.json`} onClick={close}>
            <b>Trace</b>
            <span class="muted">JSON for Perfetto and chrome://tracing</span>
          </a>
          <a href={href('events.csv')} download={`${fileName}.csv`} onClick={close}>
            <b>Events</b>
            <span class="muted">CSV, one row per event</span>
          </a>
        </>
      )}
      <button
        type="button"
        onClick={() => {
          close();
          void savePicture(() => timelinePng(pane), `${fileName}.png`);
        }}
      >
        <b>Image</b>
        <span class="muted">PNG with verdict, axis and legend</span>
      </button>
      <button
        type="button"
        onClick={() => {
          close();
          void savePicture(
            async () => new Blob([timelineSvg(pane)], { type: 'image/svg+xml' }),
            `${fileName}.svg`,
          );
        }}
      >
        <b>Drawing</b>
        <span class="muted">SVG of the same, for slides and papers</span>
      </button>
    </>
  );
}

async function savePicture(make: () => Promise<Blob>, fileName: string): Promise<void> {
  try {
    const url = URL.createObjectURL(await make());
    const link = document.createElement('a');
    link.href = url;
    link.download = fileName;
    link.click();
    window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
  } catch (error) {
    const { message, hint } = asProblem(error);
    notify(`${message} ${hint}`, true);
  }
}
