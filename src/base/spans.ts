/** Spans of numbered things, as they are spelled everywhere: `3,10-20`, both ends included. */

export interface Span {
  readonly first: number;
  readonly last: number;
}

/** undefined where the text is none, or a span ends before it begins. */
export function readSpans(text: string): Span[] | undefined {
  const spans: Span[] = [];
  for (const piece of text.split(',')) {
    const match = /^\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*$/.exec(piece);
    const first = Number(match?.[1]);
    const last = Number(match?.[2] ?? match?.[1]);
    if (!match || last < first) return undefined;
    spans.push({ first, last });
  }
  return spans;
}
