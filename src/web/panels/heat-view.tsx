/** A heat map as one drawing, a path per shade. */
import type { HeatBlock } from '../../analyze/block.js';
import { heatColors, shadeLabel, shadePath, shrinkHeat } from '../../analyze/heat-cells.js';

export function HeatView({ block }: { readonly block: HeatBlock }) {
  const shown = shrinkHeat(block, 96, 256);
  return (
    <figure>
      <figcaption>
        {block.title}: {block.caption}
      </figcaption>
      <svg
        role="img"
        aria-label={`${block.title}: ${block.caption}. Columns ${block.from} to ${block.to}.`}
        viewBox={`0 0 ${shown.columns} ${shown.rows.length}`}
        preserveAspectRatio="none"
        width="100%"
        height={Math.max(48, shown.rows.length * 5)}
      >
        {heatColors.map((color, shade) => (
          <path key={color} fill={color} d={shadePath(shown, shade)} />
        ))}
      </svg>
      <p>{heatColors.map((_, shade) => shadeLabel(shade)).join(' · ')}</p>
    </figure>
  );
}
