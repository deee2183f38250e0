/** What the colours mean, of those in the profile; a click lights one up and dims the rest. */
import { useMemo } from 'preact/hooks';
import type { PaletteName, TimelineDocument } from '../../timeline/wire.js';
import { fillOf } from '../idle-fill.js';
import { litTones, toggle } from '../state.js';
import { tonesInUse } from './legend-tones.js';

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
            {looks.map(({ id, label, color }, i) => (
              <li key={id}>
                {/* With the first entry, so that no line ends with it. */}
                {i === 0 && (
                  <span class="legend-title" aria-hidden="true">
                    {titles[name]}
                  </span>
                )}
                <button
                  type="button"
                  aria-pressed={litTones.value.has(`${name}:${id}`)}
                  onClick={() => toggle(litTones, `${name}:${id}`)}
                >
                  <i style={{ background: fillOf(color) }} aria-hidden="true" />
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
