/**
 * What a module of the user adds: the same contracts that the built-in analyses, rules, importers and markers keep.
 * docs/plugins.md has an example of each.
 */
import type { AnyAnalysis } from '../analyze/analysis.js';
import type { Rule } from '../analyze/findings/rule.js';
import type { MarkerGrammar } from '../catalog/engine-markers.js';
import type { KernelRule } from '../catalog/kernels/rule.js';
import type { Importer } from '../import/importer.js';

export interface Plugin {
  /** Errors and notes call it by this. */
  readonly name: string;
  readonly analyses?: readonly AnyAnalysis[];
  readonly findings?: readonly Rule[];
  /** Tried before the catalogue's. */
  readonly kernelRules?: readonly KernelRule[];
  readonly importers?: readonly Importer[];
  /** Step markers, tried before the engines'. */
  readonly markers?: readonly MarkerGrammar[];
}

/** Told what failed and why; everything else goes on. */
export type PluginFailed = (plugin: string, what: string, error: unknown) => void;
