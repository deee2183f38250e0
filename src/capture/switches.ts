/** Variables of the user's own command that an engine reads: what they do, and where they do nothing or cost something. */
import { engineSwitches } from '../catalog/engine-switches.js';
import { type Engine, engines } from '../catalog/engines.js';
import type { PlanReason, PlanWarning } from './capture-plan.js';
import { compareVersions, formatVersion, isCandidate, type VersionNumbers } from './versions.js';

const switchNamed = (name: string) => engineSwitches.find(known => known.name === name);

export const reasonOf = (name: string, value: string): PlanReason => {
  const known = switchNamed(name);
  return {
    what: `${name}=${value}`,
    why: known ? `set in your command: ${known.does}` : 'set in your command',
  };
};

export function questionedSwitches(
  env: Readonly<Record<string, string>>,
  engine: Engine,
  version: VersionNumbers | undefined,
): PlanWarning[] {
  return Object.keys(env).flatMap((name): PlanWarning[] => {
    const known = switchNamed(name);
    if (!known) return [];
    const { since, costs } = known;
    if (known.engine !== engine && engine !== engines.python)
      return [
        {
          code: 'switch-of-other-engine',
          severity: 'warning',
          text: `${name} is a variable of ${known.engine.label}: ${engine.label} does not read it.`,
          fix: 'Remove it.',
        },
      ];
    // Among the candidates of a release it may be there or not.
    if (since && version && !isCandidate(version) && compareVersions(version.numbers, since) < 0)
      return [
        {
          code: 'switch-too-new',
          severity: 'warning',
          text: `${name} has no effect in ${known.engine.label} ${formatVersion(version)}: it is read from ${since.join('.')} on.`,
          fix: 'Upgrade, or remove it.',
        },
      ];
    if (costs === undefined) return [];
    return [
      {
        code: 'switch-costs',
        severity: 'warning',
        text: `${name} changes what is measured: ${costs}.`,
        fix: 'Remove it for timings that count.',
      },
    ];
  });
}
