/** The machine that experts are spread over, as the options of `moe` describe it. */
import type { LoadOptions } from '../../import/expert-load/load-importer.js';
import type { LoadPhase } from '../../model/expert-load.js';
import type { ExpertTime } from '../../moe/cost/expert-time.js';
import type { machineOptions, Values } from '../options.js';

export interface MachineSettings {
  readonly load: LoadOptions;
  readonly gpus?: number;
  readonly nodes?: number;
  readonly replicas?: number;
  readonly groups?: number;
  readonly prefillFrom?: number;
  readonly phase?: LoadPhase;
  readonly time?: ExpertTime;
  readonly expertShare?: number;
}

export function machineOf(values: Values<(typeof machineOptions)[number]>): MachineSettings {
  const { as, experts, gpus, nodes, replicas, groups, prefillFrom, expertShare } = values;
  return {
    load: { as, experts },
    ...{ gpus, nodes, replicas, groups, prefillFrom, expertShare },
    phase: values.loadPhase,
    time: values.expertTime,
  };
}
