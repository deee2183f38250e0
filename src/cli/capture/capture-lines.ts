/**
 * What the user sees while a capture runs: the command's own lines, and on a terminal one line that says how far the
 * engine is in its window. Everything goes to standard error; the page of results has standard output to itself.
 */
import { printable } from '../../base/printable.js';
import { iterationInLine } from '../../catalog/iteration-line.js';
import type { Output } from '../output.js';

export interface CaptureLines {
  onLine(line: string): void;
  onIteration(iteration: number): void;
  onNotice(text: string): void;
  /** How far a driven window is: often, so that a log gets it only now and then. */
  onProgress(text: string): void;
  end(): void;
}

const LOG_EVERY_MS = 10_000;

type Window = { readonly first: number; readonly last: number } | undefined;

export function captureLines(output: Output, window: Window): CaptureLines {
  let state = '';
  let loggedMs = Date.now();
  /** Said once each where there is no terminal to rewrite. */
  const said = new Set<string>();
  const sayOnce = (what: string) => {
    if (said.has(what)) return;
    said.add(what);
    output.clearProgress();
    output.err(`stepscope: ${what}: ${state}\n`);
  };
  return {
    onLine(line) {
      // On a terminal the line below says the same, once instead of hundreds of times.
      if (output.status && state !== '' && iterationInLine(line)) return;
      output.clearProgress();
      output.err(`${line}\n`);
      if (state !== '') output.status?.(state);
    },
    onIteration(iteration) {
      state = iterationText(iteration, window);
      output.status?.(state);
      if (!window) return;
      if (iteration >= window.first && iteration <= window.last) sayOnce('recording window started');
      if (iteration > window.last) sayOnce('recording window ended');
    },
    onNotice(text) {
      output.clearProgress();
      output.err(`stepscope: ${printable(text)}\n`);
    },
    onProgress(text) {
      state = text;
      if (output.status) return output.status(text);
      const now = Date.now();
      if (now - loggedMs < LOG_EVERY_MS) return;
      loggedMs = now;
      output.err(`stepscope: ${printable(text)}\n`);
    },
    end() {
      state = '';
      output.clearProgress();
    },
  };
}

const iterationText = (iteration: number, window: Window): string =>
  window ? `iteration ${iteration} of ${window.first}-${window.last}` : `iteration ${iteration}`;
