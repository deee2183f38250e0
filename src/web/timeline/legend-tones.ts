/** Which colours mean something in a profile. */
import type { Look } from '../../analyze/names-and-colors.js';
import type { PaletteName, TimelineDocument } from '../../timeline/wire.js';

/** All that occur anywhere in the profile, however short. */
export function tonesInUse({ tracks, palettes }: TimelineDocument): Map<PaletteName, Look[]> {
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
