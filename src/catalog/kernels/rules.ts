/**
 * All rules in the order they are asked; the first match wins. Names made by compilers first, then what other ranks
 * decide, then specific work, then the carriers and generic kernels of frameworks.
 */
import type { KernelRule } from './rule.js';
import { attentionRules } from './rules-attention.js';
import { carrierRules } from './rules-carriers.js';
import { communicationRules } from './rules-communication.js';
import { compilerRules } from './rules-compilers.js';
import { gemmRules, generatedGemmRules } from './rules-gemm.js';
import { genericRules } from './rules-generic.js';
import { layerRules, plainActivationRules } from './rules-layers.js';
import { moeRules } from './rules-moe.js';

const rules: KernelRule[] = [
  ...compilerRules,
  ...communicationRules,
  ...generatedGemmRules,
  ...carrierRules,
  ...moeRules,
  ...attentionRules,
  ...layerRules,
  ...gemmRules,
  ...plainActivationRules,
  ...genericRules,
];

export const builtInRules: readonly KernelRule[] = rules;

/** A plugin's, which are tried first. */
export function addKernelRules(added: readonly KernelRule[]): void {
  rules.unshift(...added);
}
