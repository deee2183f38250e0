/** The part of a step each piece of work counts for, as a small number that millions of pieces can carry. */
import { type GpuWork, WorkKind } from '../analyze/gpu/gpu-work.js';
import type { WorkFamilies } from '../analyze/gpu/work-families.js';
import { NONE } from '../base/column.js';
import { copyKindLabels } from '../catalog/cuda-enums.js';
import { canonicalKernelName } from '../catalog/kernels/canonical-name.js';
import type { Profile } from '../model/profile.js';
import { type KernelFacts, REPLAY } from './run.js';

export class PartNames {
  readonly names: string[] = [];
  readonly kernels = new Map<string, KernelFacts>();
  private readonly indexes = new Map<string, number>();
  /** By the id of its name and one more for kernels without a name, at 0; NONE: not asked yet. */
  private readonly ofKernelName: Int32Array;
  private readonly ofCopyKind: number[] = [];
  private readonly kernelNames: Int32Array | undefined;
  private readonly copyKinds: Int32Array | undefined;

  constructor(
    private readonly profile: Profile,
    private readonly work: GpuWork,
    private readonly families: WorkFamilies,
  ) {
    this.ofKernelName = new Int32Array(profile.strings.size + 1).fill(NONE);
    this.kernelNames = profile.tables.kernels?.name as Int32Array | undefined;
    this.copyKinds = profile.tables.copies?.kind as Int32Array | undefined;
  }

  /** The number of the part a piece of work belongs to. */
  of(i: number): number {
    const { work } = this;
    switch (work.kind[i]) {
      case WorkKind.kernel: {
        const id = this.kernelNames![work.row[i]];
        if (this.ofKernelName[id + 1] === NONE) this.ofKernelName[id + 1] = this.kernelPart(id);
        return this.ofKernelName[id + 1];
      }
      case WorkKind.copy: {
        const kind = this.copyKinds![work.row[i]];
        return (this.ofCopyKind[kind] ??= this.index(
          `copy:memcpy ${copyKindLabels[kind] ?? 'of another kind'}`,
        ));
      }
      case WorkKind.memset:
        return this.index('copy:memset');
      default:
        return this.index(REPLAY);
    }
  }

  index(name: string): number {
    let index = this.indexes.get(name);
    if (index === undefined) {
      index = this.names.length;
      this.names.push(name);
      this.indexes.set(name, index);
    }
    return index;
  }

  private kernelPart(id: number): number {
    const name = this.profile.strings.text(id);
    const { family, variant, dtype = '', shortName } = this.families.classOf(id);
    const part = `${family === 'communication' ? 'comm' : 'kernel'}:${canonicalKernelName(name)}`;
    if (!this.kernels.has(part)) this.kernels.set(part, { name, shortName, family, variant, dtype });
    return this.index(part);
  }
}
