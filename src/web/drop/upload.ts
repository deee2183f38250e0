/** Sends files to the server and opens them. Progress of sending is the one thing fetch cannot tell. */
import type { ErrorDocument } from '../../timeline/wire.js';
import { notify } from '../announce.js';
import { Problem } from '../problem.js';
import { fail, openProfiles, refreshState, screen, trouble } from '../session.js';
import { panel, panes } from '../state.js';

/** In place of what is open, or beside it. */
export type Where = 'instead' | 'beside';

function send(file: File): Promise<number> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    const gone = () =>
      failed(
        new Problem(
          'The file could not be uploaded.',
          'Check that stepscope view is still running, then try again.',
        ),
      );
    request.open('PUT', `/api/profiles?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader('X-Stepscope', '1');
    request.responseType = 'json';
    request.upload.onprogress = ({ loaded, total }) => {
      screen.value = {
        kind: 'opening',
        name: file.name,
        doing: `Sending ${file.name}`,
        done: total > 0 ? loaded / total : 0,
      };
    };
    request.onerror = gone;
    request.onabort = gone;
    request.onload = () => {
      const answer = request.response as ({ id?: number } & Partial<ErrorDocument>) | null;
      if (request.status < 300 && typeof answer?.id === 'number') return done(answer.id);
      failed(
        new Problem(
          answer?.error?.message ?? `The server returned HTTP ${request.status}.`,
          answer?.error?.hint ?? 'Try again, or open it with: stepscope view FILE',
        ),
      );
    };
    request.send(file);
  });
}

export async function openFiles(files: readonly File[], where: Where): Promise<void> {
  if (screen.value.kind === 'opening' || files.length === 0) return;
  trouble.value = null;
  if (files.length > 2) notify('Stepscope opens two files at a time: only the first two are opened.');
  const ids: number[] = where === 'beside' ? panes.value.slice(0, 1).map(pane => pane.id) : [];
  for (const file of files.slice(0, 2 - ids.length)) {
    screen.value = { kind: 'opening', name: file.name, doing: `Sending ${file.name}`, done: 0 };
    try {
      ids.push(await send(file));
      await refreshState();
    } catch (error) {
      fail(file.name, error);
      return;
    }
  }
  if ((await openProfiles(ids)) && ids.length > 1) panel.value = 'compare';
}
