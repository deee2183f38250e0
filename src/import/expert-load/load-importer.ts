/** The contract of a format of expert loads: exactly one importer recognizes a file. */
import type { LoadFile } from '../../model/expert-load.js';
import type { LoadContent } from './load-content.js';

/** What the user said about files that do not say it themselves. */
export interface LoadOptions {
  /** What the numbers of a plain array are; by default their look decides. */
  readonly as?: 'counts' | 'ids';
  /** Experts of the model, where ids alone would leave the last ones out. */
  readonly experts?: number;
}

export interface LoadImporter {
  readonly id: string;
  readonly label: string;
  recognizes(content: LoadContent): boolean;
  open(content: LoadContent, options: LoadOptions): Promise<LoadFile>;
}
