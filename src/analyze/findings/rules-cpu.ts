/** What the machine does to the launching thread: others take its CPU, or it is moved from one to another. */
import { formatDuration } from '../../base/units.js';
import { type CpuDelays, cpuDelays } from '../host/cpu-delays.js';
import { formatMean, perStep } from '../words.js';
import { budgetEvidence, idleFinding } from './budget-evidence.js';
import type { Finding } from './finding.js';
import { perWindow, type Rule, type RuleInput } from './rule.js';

/** Where the kernel's reasons are not recorded, a call that was not traced looks like contention. */
const confidenceOf = ({ isByReason }: CpuDelays) => (isByReason ? 'likely' : 'possible');

function nameOf({ profile }: RuleInput, thread: number): string {
  const { name, tid, process } = profile.threads[thread];
  return `${name || profile.processes[process].name || 'thread'} (${tid})`;
}

const cpuContention: Rule = {
  id: 'cpu-contention',
  about: 'the launching thread can run, but another thread has its CPU',
  uses: [cpuDelays],
  look(input) {
    // Few captures record switches: the page does not list that among what it misses, `threads` does.
    const delays = input.useIfRecorded(cpuDelays);
    if (!delays) return [];
    return input.phases.flatMap((total): Finding[] => {
      const ns = delays.byPhase.get(total.phase)?.contentionNs ?? 0;
      if (ns < input.policy.contentionShare * total.wallNs) return [];
      const takers = delays.takers.slice(0, 3).map(thread => nameOf(input, thread));
      return [
        idleFinding(
          'cpu-contention',
          input,
          total,
          ns,
          `The GPU is idle while other threads have the CPU of the launching thread: ${delays.isByReason ? '' : 'up to '}${formatDuration(perWindow(total, ns))} ${perStep(total.phase)}`,
          [
            budgetEvidence(total, ns, `taken by ${takers.join(', ') || 'threads that were not recorded'}`),
            { text: 'time on and off the CPU by thread', analysis: 'threads' },
          ],
          confidenceOf(delays),
        ),
      ];
    });
  },
};

const coreMigrations: Rule = {
  id: 'core-migrations',
  about: 'the launching thread is moved from one CPU to another while the GPU is idle',
  uses: [cpuDelays],
  look(input) {
    const delays = input.useIfRecorded(cpuDelays);
    if (!delays) return [];
    return input.phases.flatMap((total): Finding[] => {
      const { migratingNs = 0, migrations = 0 } = delays.byPhase.get(total.phase) ?? {};
      if (migratingNs < input.policy.migrationShare * total.wallNs) return [];
      return [
        idleFinding(
          'core-migrations',
          input,
          total,
          migratingNs,
          `The GPU is idle while the launching thread moves to another CPU: ${formatDuration(perWindow(total, migratingNs))} ${perStep(total.phase)}`,
          [
            budgetEvidence(
              total,
              migratingNs,
              `${formatMean(migrations / total.windows)} migrations ${perStep(total.phase)}`,
            ),
            { text: 'migrations by thread', analysis: 'threads' },
          ],
          confidenceOf(delays),
        ),
      ];
    });
  },
  // What it waits for is the other thread; that it then goes on elsewhere comes of it.
  yieldsTo: (others, own) =>
    others.some(({ id, costNs }) => id === 'cpu-contention' && (costNs ?? 0) >= (own.costNs ?? 0) / 2),
};

export const cpuRules: readonly Rule[] = [cpuContention, coreMigrations];
