/** Files of `stepscope moe`: loads are read once as a stream, whatever else was given must be profiles of the run. */
import { Analyzer, NotRecorded } from '../../analyze/analysis.js';
import { UserError } from '../../base/user-error.js';
import { openLoads } from '../../import/expert-load/open-loads.js';
import type { BalanceLog } from '../../model/expert-load.js';
import { expertLayers } from '../../moe/cost/expert-layers.js';
import { expertWork, type StepExperts } from '../../moe/cost/expert-work.js';
import { type TimelineBalance, timelineBalance } from '../../moe/cost/timeline-balance.js';
import { collectLoads } from '../../moe/loads/load-collector.js';
import type { LoadSummary } from '../../moe/loads/load-summary.js';
import type { Output } from '../output.js';
import { profileFor } from '../profile-of.js';
import type { MachineSettings } from './machine.js';

interface MoeFiles {
  /** Those that are profiles. */
  readonly profiles: readonly string[];
  readonly summary?: LoadSummary;
  readonly log?: BalanceLog;
  readonly profile?: readonly StepExperts[];
  /** Layer by layer, where the collectives of several ranks could be matched. */
  readonly balance?: TimelineBalance;
}

export async function readMoeFiles(
  paths: readonly string[],
  settings: MachineSettings,
  output: Output,
): Promise<MoeFiles> {
  if (paths.length === 0)
    throw new UserError(
      'usage',
      'No expert counts and no profile were given.',
      'For example: stepscope moe loads.npy',
    );
  const { loads, others } = await openLoads(paths, settings.load);
  try {
    const common = { profiles: others, ...(others.length > 0 ? await readExperts(others, output) : {}) };
    if (!loads) return common;
    if (loads.kind === 'balance-log') return { ...common, log: loads };
    const summary = await collectLoads(loads, {
      prefillFrom: settings.prefillFrom,
      phase: settings.phase,
      onProgress: done => output.progress(`reading ${loads.source.file}`, done),
    });
    output.clearProgress();
    return { ...common, summary };
  } finally {
    loads?.close();
  }
}

export async function readSummary(
  paths: readonly string[],
  settings: MachineSettings,
  output: Output,
): Promise<LoadSummary> {
  const { summary } = await readMoeFiles(paths, settings, output);
  if (summary) return summary;
  throw noCounts(paths[0]);
}

export const noCounts = (file: string) =>
  new UserError(
    'not-recorded',
    `${file} contains no counts per expert.`,
    'Record them: EXPERT_STATISTIC_ITER_RANGE for TensorRT-LLM, the expert distribution recorder of SGLang (docs/moe.md).',
  );

export async function readExperts(
  paths: readonly string[],
  output: Output,
): Promise<{ profile: readonly StepExperts[]; balance?: TimelineBalance }> {
  const opened = await profileFor(paths, [expertWork, expertLayers], output);
  try {
    const analyzer = new Analyzer(opened);
    const profile = analyzer.get(expertWork);
    const balance = timelineBalance(analyzer.get(expertLayers));
    return { profile, ...(balance ? { balance } : {}) };
  } catch (error) {
    if (!(error instanceof NotRecorded)) throw error;
    throw new UserError(
      'not-recorded',
      `${paths[0]} does not show the cost of experts: not recorded: ${error.what}.`,
      `${error.hint}.`,
    );
  }
}
