/** One time becoming another: each bar begins where the one before ended. */
import type { WaterfallBlock } from '../../analyze/block.js';
import { formatChange, formatCount, formatDuration } from '../../base/units.js';
import { fillOf } from '../idle-fill.js';

export function WaterfallView({ block: { title, from, to, terms } }: { readonly block: WaterfallBlock }) {
  const starts = startsOf(from.ns, terms);
  const most = Math.max(from.ns, to.ns, ...starts);
  const least = Math.min(from.ns, to.ns, ...starts);
  // Where little changes, the bars of both steps are cut off at the left so that the change can be seen.
  const zero = least > most / 2 ? least - (most - least) * 1.5 : 0;
  const bar = (begin: number, end: number, color?: string) => ({
    left: `${(100 * (Math.max(Math.min(begin, end), zero) - zero)) / (most - zero || 1)}%`,
    width: `${Math.max(0.4, (100 * Math.abs(end - Math.max(begin, zero))) / (most - zero || 1))}%`,
    background: fillOf(color),
  });
  return (
    <section class="block">
      <h3>{title}</h3>
      <table class="waterfall">
        <thead class="unseen">
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Bar</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          <tr class="end">
            <th scope="row">{from.label}</th>
            <td class="fall">
              <span style={bar(zero, from.ns)} />
            </td>
            <td class="n">{formatDuration(from.ns)}</td>
          </tr>
          {terms.map((term, i) => (
            <tr key={term.label}>
              <th scope="row">
                {term.label}
                <small>
                  {formatDuration(term.fromNs)} → {formatDuration(term.toNs)}
                  {countsText(term.fromCount, term.toCount)}
                </small>
              </th>
              <td class="fall">
                <span style={bar(starts[i], starts[i] + term.changeNs, term.color)} />
              </td>
              <td class={term.changeNs > 0 ? 'n more' : 'n less'}>{formatChange(term.changeNs)}</td>
            </tr>
          ))}
          <tr class="end">
            <th scope="row">{to.label}</th>
            <td class="fall">
              <span style={bar(zero, to.ns)} />
            </td>
            <td class="n">
              {formatDuration(to.ns)} <b>{formatChange(to.ns - from.ns)}</b>
            </td>
          </tr>
        </tbody>
      </table>
      {zero > 0 && <p class="muted">Bars start at {formatDuration(zero)}.</p>}
    </section>
  );
}

/** Where each term begins: at the first time plus all changes before it. */
function startsOf(first: number, terms: WaterfallBlock['terms']): number[] {
  let at = first;
  return terms.map(({ changeNs }) => {
    const start = at;
    at += changeNs;
    return start;
  });
}

function countsText(from: number | null, to: number | null): string {
  if (from === null || to === null) return '';
  const text = (count: number) => formatCount(Number(count.toFixed(1)));
  return from === to ? `, ${text(from)} kernels` : `, ${text(from)} → ${text(to)} kernels`;
}
