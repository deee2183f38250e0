/** Draws any block, so that an analysis has a panel without a line of code here. */
import type { Block } from '../../analyze/block.js';
import { scatterTable } from '../../analyze/scatter-table.js';
import type { StepSpan } from '../../timeline/spans.js';
import type { Pane } from '../state.js';
import { BarsView } from './bars-view.js';
import { FactsView } from './facts-view.js';
import { FindingsView } from './findings-view.js';
import { HeatView } from './heat-view.js';
import { NotRecordedView } from './not-recorded-view.js';
import { StatementView } from './statement-view.js';
import { TableView } from './table-view.js';
import { WaterfallView } from './waterfall-view.js';

interface BlockProps {
  readonly block: Block;
  readonly pane: Pane;
  /** The selected steps it is about, where it is about some. */
  readonly steps?: StepSpan | null;
}

export function BlockView({ block, pane, steps = null }: BlockProps) {
  switch (block.kind) {
    case 'table':
      return <TableView block={block} pane={pane} />;
    case 'not-recorded':
      return <NotRecordedView block={block} />;
    case 'facts':
      return <FactsView block={block} />;
    case 'statement':
      return <StatementView block={block} />;
    case 'bars':
      return <BarsView block={block} />;
    case 'findings':
      return <FindingsView block={block} pane={pane} steps={steps} />;
    case 'heat':
      return <HeatView block={block} />;
    case 'scatter':
      return <TableView block={scatterTable(block)} pane={pane} />;
    case 'waterfall':
      return <WaterfallView block={block} />;
    default: {
      // A new kind of block does not compile until it is drawn.
      const unknown: never = block;
      return unknown;
    }
  }
}
