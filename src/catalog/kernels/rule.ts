/** One rule: which names belong to a family, and where that is known from. */
import type { FamilyId } from './families.js';

export interface KernelRule {
  readonly id: string;
  readonly family: FamilyId;
  readonly variant?: string;
  /** Tried on the qualified function name, never on template arguments or parameters. */
  readonly pattern: RegExp;
  /**
   * Also asked of the template text. Only for carriers: functions such as `cutlass::Kernel2` or
   * `vectorized_elementwise_kernel` whose own name says nothing about the work they carry.
   */
  readonly templatePattern?: RegExp;
  /** Project, and file where useful, the names come from. */
  readonly source: string;
}
