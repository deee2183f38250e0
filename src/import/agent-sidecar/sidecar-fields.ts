export const countIn = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : 0;

/** Setting of a sidecar: base names of the PyTorch traces that the agent wrote itself, so they hold its windows alone. */
export const OWN_TRACES = 'PyTorch traces of the agent';
const MOST_TRACES = 1000;

/** Setting of a sidecar that a second run without a profiler wrote: iterations whose times it holds. */
export const CALIBRATED = 'calibrated iterations';

export function calibrated(value: unknown): Record<string, string> {
  if (!Array.isArray(value) || value.length === 0) return {};
  const spans = value.slice(0, MOST_TRACES).map(span => (Array.isArray(span) ? span.map(countIn) : [0]));
  return { [CALIBRATED]: spans.map(span => span.join('-')).join(',') };
}

export function ownTraces(value: unknown): Record<string, string> {
  const names = Array.isArray(value) ? value.slice(0, MOST_TRACES) : [];
  const kept = names.filter(name => typeof name === 'string' && /^[^/\\\n]{1,300}$/.test(name));
  return kept.length > 0 ? { [OWN_TRACES]: kept.join('\n') } : {};
}
