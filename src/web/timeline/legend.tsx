/** What the colours mean, of those in the profile; a click lights one up and dims the rest. */
import { useMemo } from 'preact/hooks';
import type { Look } from '../../analyze/names-and-colors.js';
import type { PaletteName, TimelineDocument } from '../../timeline/wire.js';
import { litTones, toggle } from '../state.js';

const titles: Record<PaletteName, string> = {
  phase: 'Steps',
  family: 'Kernels',
  cause: 'Idle',
  host: 'Host',
  rank: 'Ranks',
};
const order: readonly PaletteName[] = ['rank', 'family', 'cause', 'host'];

export function Legend({ document }: { readonly document: TimelineDocument }) {
  const used = useMemo(() => tonesInUse(document), [document]);
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

/** All that occur anywhere in the profile, however short. */
function tonesInUse({ tracks, palettes }: TimelineDocument): Map<PaletteName, Look[]> {
  const seen = new Map<PaletteName, Set<number>>();
  for (const { kind, palette, tones } of tracks) {
    if (kind !== 'slices') continue;
    const own = seen.get(palette) ?? new Set<number>();
    seen.set(palette, own);
    for (const tone of tones) own.add(tone);
  }
  const causes = new Set(palettes.cause.map(({ id }) => id));
  return new Map(
    [...seen].map(([name, tones]) => [
      name,
      palettes[name].filter(
        // Host events that explain idle time have its colours, which are said already.
        ({ id }, tone) => tones.has(tone) && !(name === 'host' && causes.has(id)),
      ),
    ]),
  );
}
