/** What the colours mean, of those in the profile; a click lights one up and dims the rest. */
import { useMemo } from 'preact/hooks';
import type { Look } from '../../analyze/names-and-colors.js';
import type { SliceTile } from '../../timeline/slice-pyramid.js';
import type { PaletteName } from '../../timeline/wire.js';
import { litTones, toggle } from '../state.js';
import type { TimelineCanvas } from './timeline-canvas.js';

const titles: Record<PaletteName, string> = {
  phase: 'Steps',
  family: 'Kernels',
  cause: 'Idle',
  host: 'Host',
  rank: 'Ranks',
};
const order: readonly PaletteName[] = ['rank', 'family', 'cause', 'host'];

export function Legend({ timeline }: { readonly timeline: TimelineCanvas }) {
  const used = useMemo(() => tonesInUse(timeline), [timeline]);
  return (
    <div class="legend">
      {order.map(name => {
        const looks = used.get(name) ?? [];
        if (looks.length === 0) return null;
        return (
          <ul key={name} aria-label={titles[name]}>
            <li class="legend-title" aria-hidden="true">
              {titles[name]}
            </li>
            {looks.map(({ id, label, color }) => (
              <li key={id}>
                <button
                  type="button"
                  aria-pressed={litTones.value.has(`${name}:${id}`)}
                  onClick={() => toggle(litTones, `${name}:${id}`)}
                >
                  <i style={{ background: color }} aria-hidden="true" />
                  {label}
                </button>
              </li>
            ))}
          </ul>
        );
      })}
    </div>
  );
}

/** From the overviews: a tone that nowhere covers most of a pixel is left out. */
function tonesInUse({ pane, tiles }: TimelineCanvas): Map<PaletteName, Look[]> {
  const seen = new Map<PaletteName, Set<number>>();
  for (const { kind, palette, lanes, collapsed } of pane.document.tracks) {
    if (kind !== 'slices' || collapsed) continue;
    const own = seen.get(palette) ?? new Set<number>();
    seen.set(palette, own);
    for (const { id } of lanes)
      for (const tone of (tiles.overviewOf(id) as SliceTile | undefined)?.tone ?? []) own.add(tone);
  }
  const causes = new Set(pane.document.palettes.cause.map(({ id }) => id));
  return new Map(
    [...seen].map(([name, tones]) => [
      name,
      pane.document.palettes[name].filter(
        // Host events that explain idle time have its colours, which are said already.
        ({ id }, tone) => tones.has(tone) && !(name === 'host' && causes.has(id)),
      ),
    ]),
  );
}
