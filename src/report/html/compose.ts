/** Pages from blocks: what a result shows in the terminal, in sections, with the charts that belong to them. */
import type { Block, StatementBlock } from '../../analyze/block.js';
import type { PageSummary } from '../../analyze/page-summary.js';
import { scatterChart } from './framework-charts.js';
import type { Cutter } from './limits.js';
import type { Piece, Report } from './sections.js';

export interface PageSection {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
  /** Charts and the like, before and after the blocks. */
  readonly before?: readonly Piece[];
  readonly after?: readonly Piece[];
  readonly appendix?: boolean;
}

/** Sections with nothing in them are left out. */
export function composeSections(
  header: StatementBlock | undefined,
  answer: StatementBlock | undefined,
  sections: readonly PageSection[],
  cutter: Cutter,
  summary?: PageSummary,
): Report {
  const composed = sections.map(({ id, title, blocks, before = [], after = [], appendix = false }) => ({
    ...{ id, title, appendix },
    pieces: [...before, ...blocks.map(block => pieceOf(block, cutter)), ...after],
  }));
  return {
    header,
    answer,
    summary: summary && cutter.block(summary),
    sections: composed
      .filter(({ pieces }) => pieces.length > 0)
      .sort((a, b) => Number(a.appendix) - Number(b.appendix)),
  };
}

function pieceOf(block: Block, cutter: Cutter): Piece {
  return block.kind === 'scatter'
    ? { kind: 'chart', chart: scatterChart(block), figures: [block] }
    : { kind: 'block', block: cutter.block(block) };
}

const isStatement = (block: Block): block is StatementBlock => block.kind === 'statement';

/** Without any plan of sections: the first statements on top, then a section for each further title. */
export function composeBlocks(
  blocks: readonly Block[],
  cutter: Cutter,
  summary?: PageSummary,
  isAppendix: (id: string) => boolean = () => false,
): Report {
  const statements = blocks.filter(isStatement);
  const header = statements.find(({ quiet }) => quiet);
  const answer = statements.find(({ quiet }) => !quiet);
  const sections: { id: string; title: string; blocks: Block[]; appendix: boolean }[] = [];
  for (const block of blocks) {
    if (block === header || block === answer) continue;
    const last = sections.at(-1);
    if (last && (block.title === '' || block.title === last.title)) last.blocks.push(block);
    else {
      const title = block.title === '' ? 'Results' : block.title;
      const appendix = isAppendix(block.id);
      sections.push({ id: `${block.id}-${sections.length}`, title, blocks: [block], appendix });
    }
  }
  return composeSections(header, answer, sections, cutter, summary);
}
