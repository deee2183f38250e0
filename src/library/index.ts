/** The library: `import { openProfile, analyze, compare } from 'stepscope'`. docs/library.md has runnable examples. */
export type {
  Analysis,
  AnalysisInput,
  AnalysisResult,
  AnyAnalysis,
  Derived,
  Field,
  Settings,
} from '../analyze/analysis.js';
export { NotRecorded } from '../analyze/analysis.js';
export { type FieldOf, field, keyField, maybe, quiet } from '../analyze/field.js';
export type { Finding } from '../analyze/findings/finding.js';
export { finding, type Rule, type RuleInput } from '../analyze/findings/rule.js';
export { analyses } from '../analyze/index.js';
export { iterations } from '../analyze/inference/iterations.js';
export { stepBudget } from '../analyze/inference/step-budget.js';
export type { Note } from '../base/notes.js';
export { UserError } from '../base/user-error.js';
export type { MarkerGrammar } from '../catalog/engine-markers.js';
export type { KernelRule } from '../catalog/kernels/rule.js';
export type { ImportContext, Importer } from '../import/importer.js';
export { ProfileBuilder } from '../model/builder.js';
export type { CaptureInfo, Profile } from '../model/profile.js';
export type { TableName } from '../model/schema.js';
export type { Plugin } from '../plugins/plugin.js';
export { type Answered, type AnyRow, analyzeProfile as analyze } from './analyze-profile.js';
export {
  type CompareOptions,
  type ComparisonAnswer,
  compareProfiles as compare,
} from './compare-profiles.js';
export { type OpenFilesOptions, openFiles as openProfile } from './open-files.js';
export { usePlugin } from './use-plugin.js';
