/** Parts of a whole: all of it as one bar, then each part with its figures. */
import type { BarRow, BarsBlock } from '../../analyze/block.js';
import { formatDuration, formatShare } from '../../base/units.js';
import { fillOf, hatchClass } from '../idle-fill.js';

export function BarsView({ block: { title, caption, rows, remark } }: { readonly block: BarsBlock }) {
  const whole = rows.filter((row, i) => row.depth > 0 || rows[i + 1]?.depth !== 1);
  return (
    <section class="block">
      <h3>
        {title} <span class="muted">{caption}</span>
      </h3>
      <div class="stack" aria-hidden="true">
        {whole.map(row => (
          <span
            key={row.label}
            class={hatchClass(row.color)}
            title={`${row.label} ${formatDuration(row.ns)}, ${formatShare(row.share)}`}
            style={{ flexGrow: Math.max(0, row.share), background: fillOf(row.color) }}
          />
        ))}
      </div>
      <table class="bars">
        <thead class="unseen">
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Time</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <Part key={row.label} row={row} />
          ))}
        </tbody>
      </table>
      {remark && <p class="muted">{remark}</p>}
    </section>
  );
}

function Part({ row: { label, depth, ns, share, color } }: { readonly row: BarRow }) {
  return (
    <tr class={depth > 0 ? 'deeper' : undefined}>
      <th scope="row">
        <span class={`swatch ${hatchClass(color)}`} style={{ background: fillOf(color) }} />
        {label}
      </th>
      <td class="n">{formatDuration(ns)}</td>
      <td class="n">{formatShare(share)}</td>
    </tr>
  );
}
