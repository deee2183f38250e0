/** What the GPU time goes to, in families that travel across engines. */

import { NONE } from '../../base/column.js';
import { formatShare } from '../../base/units.js';
import { families } from '../../catalog/kernels/families.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField } from '../field.js';
import { selectedWork } from '../inference/selected-work.js';
import { stepsOf } from '../inference/steps.js';
import { describeFamilies } from './describe-families.js';
import type { FamilyRow, VariantRow } from './family-row.js';
import { gpuWork, WorkKind } from './gpu-work.js';
import { HIDDEN, workFamilies } from './work-families.js';

interface Amount {
  kernels: number;
  totalNs: number;
}

interface Tally extends Amount {
  readonly phases: Map<Phase | null, Amount>;
  readonly names: Map<number, Amount>;
}

const LISTED_UNKNOWN = 10;
/** Kernels of no known family are worth a line from this share of GPU time on. */
const WORTH_NAMING = 0.03;

export const kernelFamilies: Analysis<FamilyRow, AnalysisResult<FamilyRow>> = {
  id: 'kernel-families',
  title: 'Kernel families',
  question: 'What kinds of kernels take the GPU time?',
  reads: {},
  uses: [gpuWork, workFamilies, selectedWork, stepsOf],
  needs: [['kernels', 'graphLaunches']],
  fields: {
    key: keyField,
    family: field.text('Family', 'see docs/kernel-families.md'),
    kernels: field.count('Kernels', 'kernel launches; for copy and memset, operations'),
    totalNs: field.ns('Total', 'sum of durations'),
    share: field.share('Share (%)', 'of the sum over all families'),
    kernelsPerStep: field.mean('Per step', 'kernels divided by steps and devices'),
    nsPerStep: field.nsMean('Time per step', 'total divided by steps and devices'),
    distinct: field.count('Distinct', 'different kernel names'),
    phases: field.list('Phases', 'the same figures per phase; null: outside all steps'),
    variants: field.list('Variants', 'by variant, data type and library'),
  },
  describe: result => describeFamilies(kernelFamilies, result),
  headline: {
    label: 'unknown',
    text({ summary = {} }) {
      const share = summary.unclassifiedShare as number;
      if (share < WORTH_NAMING) return undefined;
      return `${formatShare(share)} of GPU time is in unclassified kernels: analyze --why NAME, --rules FILE`;
    },
  },
  compute({ profile, use }) {
    const work = use(gpuWork);
    const { family, classOf } = use(workFamilies);
    const { selected, first, end, step, runs, runsOfPhase } = use(selectedWork);
    const steps = use(stepsOf)?.steps ?? [];
    const names = profile.tables.kernels?.name;
    const tallies = families.map(
      (): Tally => ({ kernels: 0, totalNs: 0, phases: new Map(), names: new Map() }),
    );
    // What was added to last, by name of the kernel: a name is of one family, and a map is slow.
    const ofName: (Amount | undefined)[] = [];
    let sum = 0;
    for (let i = first; i < end; i++) {
      if (!selected[i]) continue;
      if (family[i] === HIDDEN) throw hiddenByGraphs();
      // A kernel that was started early and waits for the one before it on its stream does nothing yet.
      const ns = Math.max(0, work.end[i] - work.ownStart[i]);
      const tally = tallies[family[i]];
      tally.kernels++;
      tally.totalNs += ns;
      sum += ns;
      const name = work.kind[i] === WorkKind.kernel ? names![work.row[i]] : -1;
      const known = name < 0 ? undefined : ofName[name];
      if (known) {
        known.kernels++;
        known.totalNs += ns;
      } else {
        const added = addTo(tally.names, name, ns);
        if (name >= 0) ofName[name] = added;
      }
      addTo(tally.phases, step[i] === NONE ? null : steps[step[i]].facts.phase, ns);
    }
    const rows = families.flatMap(({ id }, index): FamilyRow[] => {
      const { kernels, totalNs, phases, names: found } = tallies[index];
      if (kernels === 0) return [];
      const variants = new Map<string, VariantRow>();
      for (const [name, amount] of found) {
        const { variant = '', dtype = '', library = '' } = name < 0 ? {} : classOf(name);
        const key = `${variant}/${dtype}/${library}`;
        const known = variants.get(key) ?? { variant, dtype, library, kernels: 0, totalNs: 0 };
        variants.set(key, {
          ...known,
          kernels: known.kernels + amount.kernels,
          totalNs: known.totalNs + amount.totalNs,
        });
      }
      return [
        {
          key: `family:${id}`,
          family: id,
          kernels,
          totalNs,
          share: sum > 0 ? totalNs / sum : 0,
          kernelsPerStep: kernels / runs,
          nsPerStep: totalNs / runs,
          distinct: found.size,
          phases: [...phases].map(([phase, amount]) => {
            const count = phase === null ? 1 : runsOfPhase(phase);
            return {
              phase,
              ...amount,
              kernelsPerStep: amount.kernels / count,
              nsPerStep: amount.totalNs / count,
            };
          }),
          variants: [...variants.values()].sort((a, b) => b.totalNs - a.totalNs),
        },
      ];
    });
    rows.sort((a, b) => b.totalNs - a.totalNs);
    const unknown = [...(tallies[families.findIndex(({ id }) => id === 'other')]?.names ?? [])]
      .sort((a, b) => b[1].totalNs - a[1].totalNs)
      .map(([name, { kernels, totalNs }]) => ({
        name: name < 0 ? '' : profile.strings.text(name),
        kernels,
        totalNs,
        share: sum > 0 ? totalNs / sum : 0,
      }));
    return {
      rows,
      summary: {
        totalNs: sum,
        unclassifiedShare: unknown.reduce((total, { share }) => total + share, 0),
        unclassified: unknown.slice(0, LISTED_UNKNOWN),
        unclassifiedNames: unknown.length,
      },
    };
  },
};

function addTo<Key>(amounts: Map<Key, Amount>, key: Key, ns: number): Amount {
  let amount = amounts.get(key);
  if (!amount) amounts.set(key, (amount = { kernels: 0, totalNs: 0 }));
  amount.kernels++;
  amount.totalNs += ns;
  return amount;
}

export const hiddenByGraphs = () =>
  new NotRecorded(
    'the kernels inside CUDA graph replays (recorded as blocks)',
    'capture with --cuda-graph-trace=node',
  );
