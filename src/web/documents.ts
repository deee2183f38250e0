/**
 * Documents of the server as components want them: what is known now, and whether more is on its way. Results for other
 * steps stay on screen, dimmed, until the new ones are there; what was asked before is not asked again.
 */

import { useEffect, useRef, useState } from 'preact/hooks';
import type { StepSpan } from '../timeline/spans.js';
import { askJson } from './api.js';
import { isOffline } from './offline/offline.js';
import { Problem } from './problem.js';
import type { Pane } from './state.js';

interface Asked<Document> {
  readonly document?: Document;
  /** The question that the document answers: it stays on screen, dimmed, while the next one is open. */
  readonly answered?: string;
  readonly problem?: Problem;
  /** The document shown is of an earlier question, or none is there yet. */
  readonly isLoading: boolean;
}

const KEPT = 120;
/**
 * Steps fly by while a key is held: only where they come to rest is worth asking about. The first question after a rest
 * is asked at once.
 */
const REST_MS = 90;
const answers = new Map<string, unknown>();

function keep(path: string, document: unknown): void {
  answers.set(path, document);
  if (answers.size > KEPT) answers.delete(answers.keys().next().value!);
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem(
        'This panel could not be displayed.',
        `Reload the page. (${(error as Error)?.message ?? error})`,
      );

/** `path` null: nothing to ask. */
export function useDocument<Document>(path: string | null): Asked<Document> {
  const [asked, setAsked] = useState<Asked<Document> & { readonly path: string | null }>({
    path: null,
    isLoading: path !== null,
  });
  const changedMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const isRested = performance.now() - changedMs.current > REST_MS;
    changedMs.current = performance.now();
    if (path === null) return setAsked({ path, isLoading: false });
    if (answers.has(path))
      return setAsked({
        path,
        document: answers.get(path) as Document,
        answered: path,
        isLoading: false,
      });
    setAsked(before => ({ ...before, path, problem: undefined, isLoading: true }));
    const stop = new AbortController();
    const timer = window.setTimeout(
      () => {
        askJson<Document>(path, { signal: stop.signal }).then(
          document => {
            keep(path, document);
            setAsked({ path, document, answered: path, isLoading: false });
          },
          error => {
            if ((error as Error).name !== 'AbortError')
              setAsked({ path, problem: asProblem(error), isLoading: false });
          },
        );
      },
      isRested ? 0 : REST_MS,
    );
    return () => {
      window.clearTimeout(timer);
      stop.abort();
    };
  }, [path]);
  // Until the effect has run, the state is about the question before.
  if (asked.path !== path && path !== null && answers.has(path))
    return { document: answers.get(path) as Document, answered: path, isLoading: false };
  return asked.path === path ? asked : { ...asked, problem: undefined, isLoading: path !== null };
}

const stepsPart = (steps: StepSpan | null) => (steps ? `?steps=${steps.first}-${steps.last}` : '');

/** The steps that a question names: what its answer is about, whatever is selected by now. */
export function stepsAsked(path: string | undefined): StepSpan | null {
  const found = /[?&]steps=(\d+)-(\d+)/.exec(path ?? '');
  return found && { first: Number(found[1]), last: Number(found[2]) };
}

export const answerPath = (pane: Pane) => `/api/profiles/${pane.id}/answer${stepsPart(pane.steps.value)}`;
export const panelPath = (pane: Pane, analysis: string) =>
  `/api/profiles/${pane.id}/panels/${encodeURIComponent(analysis)}${stepsPart(pane.steps.value)}`;
/** A page without a server has only the steps it was made for. */
export const flamePath = (pane: Pane) => {
  const area = isOffline ? null : pane.area.value;
  const part = area
    ? `?from=${Math.floor(area.fromNs)}&to=${Math.ceil(area.toNs)}`
    : stepsPart(pane.steps.value);
  return `/api/profiles/${pane.id}/flame${part}`;
};

/** null until both have a step to compare. */
export function comparePath(a: Pane | undefined, b: Pane | undefined): string | null {
  if (!a || !b) return null;
  const steps =
    a.steps.value && b.steps.value ? `&stepA=${a.steps.value.first}&stepB=${b.steps.value.first}` : '';
  return `/api/compare?a=${a.id}&b=${b.id}${steps}`;
}
