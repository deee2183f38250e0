/** The contract of a renderer: blocks to text. One per output format; each is one file and one line in index.ts. */
import type { Block } from '../analyze/block.js';
import type { ColorDepth } from './terminal.js';

export interface RenderContext {
  /** Columns available; Infinity where everything is asked for. */
  readonly width: number;
  readonly color: boolean;
  /** How many colours there are; absent: 256. */
  readonly colorDepth?: ColorDepth;
  /** Rows per table to show to people; formats for machines always give all. */
  readonly rowLimit?: number;
  /** The option that gives every row and column, where it is not `--csv`. */
  readonly allColumns?: string;
}

export interface Renderer {
  readonly id: string;
  readonly mediaType: string;
  readonly extension: string;
  render(blocks: readonly Block[], context: RenderContext): string;
}
