/** The profiling checklist of the guides, answered from the data: done, not done, or cannot tell, each with why. */
import { formatShare, plural } from '../../base/units.js';
import { capabilities } from '../../catalog/capabilities.js';
import { howToRecord } from '../../catalog/how-to-record.js';
import { type FamilyId, familyOf } from '../../catalog/kernels/families.js';
import { defaultPolicy } from '../../catalog/policy.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import type { Block, Fact } from '../block.js';
import { field, keyField, type RowOf } from '../field.js';
import { gpuMetricsAnalysis } from '../gpu/gpu-metrics.js';
import { gpuUtilization } from '../gpu/gpu-utilization.js';
import { kernelFamilies } from '../gpu/kernel-families.js';
import { gil } from '../host/gil.js';
import { iterations } from '../inference/iterations.js';
import { findings } from './findings.js';

const fields = {
  key: keyField,
  item: field.text('Item', 'a step of a sound performance analysis'),
  status: field.text<'done' | 'not done' | 'cannot tell'>('Status', 'done, not done, or cannot tell'),
  why: field.text('Why', 'the reason, from the data'),
};

type ChecklistRow = RowOf<typeof fields>;

export const checklist: Analysis<ChecklistRow, AnalysisResult<ChecklistRow>> = {
  id: 'checklist',
  title: 'Checklist',
  question: 'Is every step of a sound performance analysis done?',
  reads: { ranges: [] },
  uses: [iterations, gpuUtilization, gpuMetricsAnalysis, kernelFamilies, gil, findings],
  fields,
  compute({ profile, settings, use, useIfRecorded }) {
    const policy = settings.policy ?? defaultPolicy;
    const steps = use(iterations).rows;
    const steady = steps.filter(row => row.state === 'steady');
    const utilization = useIfRecorded(gpuUtilization)?.rows ?? [];
    const families = useIfRecorded(kernelFamilies)?.rows;
    const found = use(findings).findings;
    const rows: ChecklistRow[] = [];
    const add = (id: string, item: string, status: ChecklistRow['status'], why: string) =>
      rows.push({ key: `item:${id}`, item, status, why });

    const batches = [
      ...new Set(steps.map(row => row.generationRequests).filter(batch => batch !== null && batch > 0)),
    ];
    add(
      'workload',
      'Representative workload',
      'cannot tell',
      steps.length === 0
        ? 'no steps were found, so batch size and sequence lengths are unknown'
        : `compare with production: ${[...new Set(steps.map(row => row.phase))].join(', ')}${batches.length > 0 ? `, batch ${batches.slice(0, 4).join(', ')}` : ''}`,
    );
    const enough = steady.length >= policy.fewSteps;
    add(
      'steady-state',
      'Steady-state window',
      steps.length === 0 ? 'cannot tell' : enough ? 'done' : 'not done',
      steps.length === 0
        ? 'no steps were found'
        : `${plural(steady.length, 'steady step')} of ${steps.length}${enough ? '' : `, at least ${policy.fewSteps} needed`}`,
    );
    const hasGpu = Boolean(profile.tables.kernels ?? profile.tables.graphLaunches);
    const hasRanges = Boolean(profile.tables.ranges);
    add(
      'collected',
      'CUDA and NVTX collected',
      hasGpu && hasRanges ? 'done' : 'not done',
      `GPU work ${hasGpu ? 'recorded' : 'not recorded'}, ranges ${hasRanges ? 'recorded' : 'not recorded (-t nvtx)'}`,
    );
    const busy = utilization.find(row => row.busyShare !== null);
    add(
      'busy',
      'GPU busy time measured',
      busy ? 'done' : utilization.length > 0 ? 'cannot tell' : 'not done',
      busy
        ? `busy ${formatShare(busy.busyShare!)} of the steps`
        : utilization.length > 0
          ? 'graphs were recorded as blocks: --cuda-graph-trace=node'
          : 'no GPU work was recorded',
    );
    // A GPU that always runs something may still leave most of its units idle: only counters tell.
    const counters = useIfRecorded(gpuMetricsAnalysis)?.rows ?? [];
    const hint = capabilities(profile).find(({ table }) => table === 'metricSamples')?.hint;
    add(
      'utilisation',
      'GPU utilization analyzed (SM, tensor, DRAM)',
      counters.length > 0 ? 'done' : 'not done',
      counters.length > 0
        ? `${plural(new Set(counters.map(row => row.metric)).size, 'counter')} sampled`
        : `no counters were sampled${hint ? `: ${hint}` : ''}`,
    );
    const largest = families?.[0];
    add(
      'kernels',
      'Dominant kernels found',
      largest ? 'done' : 'not done',
      largest
        ? `${familyOf(largest.family as FamilyId).label}: ${formatShare(largest.share)} of GPU time`
        : hasGpu
          ? 'kernels are hidden inside graph blocks: --cuda-graph-trace=node'
          : 'no GPU work was recorded',
    );
    const locks = useIfRecorded(gil);
    add(
      'cpu',
      'CPU bottlenecks checked (GIL)',
      locks ? 'done' : 'not done',
      locks ? 'GIL trace recorded' : `no GIL trace: ${howToRecord.gil}`,
    );
    add(
      'baseline',
      'Baseline compared',
      'cannot tell',
      'only one run was given: stepscope compare BEFORE AFTER, or stepscope check against a saved baseline',
    );
    add(
      'documented',
      'Findings documented',
      settings.documented ? 'done' : 'not done',
      settings.documented
        ? `${plural(found.length, 'finding')} in this report`
        : `${plural(found.length, 'finding')}: stepscope report FILE -o report.html`,
    );
    return { rows };
  },
  describe({ rows }): Block[] {
    const tones: Record<ChecklistRow['status'], Fact['tone']> = {
      done: 'good',
      'not done': 'bad',
      'cannot tell': 'quiet',
    };
    const facts = rows.map(
      ({ item, status, why }): Fact => ({ label: status, text: `${item}: ${why}`, tone: tones[status] }),
    );
    return [{ kind: 'facts', id: 'checklist', title: 'Checklist', facts }];
  },
};
