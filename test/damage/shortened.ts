/** A trace as its profiler wrote it, with fewer events: damage is tried thousands of times, and soundness costs time. */

const BETWEEN = ',\n  {\n';

/** Some events of every kind, spread over the file, byte for byte; all of what is not an event. */
export function shortenedTrace(text: string, perKind: number): string {
  const [head, ...events] = text.split(BETWEEN);
  const kindOf = (event: string) =>
    /"ph": "(.)"(?:, "cat": "([^"]*)")?/.exec(event)?.slice(1).join(' ') ?? '';
  const total = new Map<string, number>();
  for (const event of events) total.set(kindOf(event), (total.get(kindOf(event)) ?? 0) + 1);
  const seen = new Map<string, number>();
  const kept = events.filter((event, i) => {
    const kind = kindOf(event);
    const nth = seen.get(kind) ?? 0;
    seen.set(kind, nth + 1);
    // The last one is followed by what closes the file.
    return i === events.length - 1 || nth % Math.ceil(total.get(kind)! / perKind) === 0;
  });
  return [head, ...kept].join(BETWEEN);
}
