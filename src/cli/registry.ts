/** The verbs. Each is loaded when it is asked for: what the others bring along costs a tenth of a second. */
import type { Command } from './command.js';

export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  analyze: async () => (await import('./commands/analyze.js')).analyze,
  report: async () => (await import('./commands/report.js')).report,
  compare: async () => (await import('./commands/compare.js')).compare,
  view: async () => (await import('./commands/view.js')).view,
  steps: async () => (await import('./commands/steps.js')).steps,
  info: async () => (await import('./commands/info.js')).info,
  stats: async () => (await import('./commands/stats.js')).stats,
  bench: async () => (await import('./commands/bench.js')).bench,
  moe: async () => (await import('./commands/moe.js')).moe,
  'moe place': async () => (await import('./commands/moe-place.js')).moePlace,
  'moe experiment': async () => (await import('./commands/moe-experiment.js')).moeExperiment,
  families: async () => (await import('./commands/families.js')).familiesCommand,
  frameworks: async () => (await import('./commands/frameworks.js')).frameworks,
  check: async () => (await import('./commands/check.js')).check,
  'baseline save': async () => (await import('./commands/baseline-save.js')).baselineSave,
  'baseline list': async () => (await import('./commands/baseline-list.js')).baselineList,
  'baseline show': async () => (await import('./commands/baseline-show.js')).baselineShow,
  'baseline remove': async () => (await import('./commands/baseline-remove.js')).baselineRemove,
  trend: async () => (await import('./commands/trend.js')).trend,
  load: async () => (await import('./commands/load.js')).load,
  capture: async () => (await import('./commands/capture.js')).capture,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  dataset: async () => (await import('./commands/dataset.js')).dataset,
  redact: async () => (await import('./commands/redact.js')).redact,
  completion: async () => (await import('./commands/completion.js')).completion,
};

export const allCommands = (): Promise<Command[]> => Promise.all(Object.values(commands).map(load => load()));
