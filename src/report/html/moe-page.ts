/** The page of `stepscope moe`: what would fix it first, then the heat maps and what they are made of. */
import type { Block, StatementBlock } from '../../analyze/block.js';
import type { MoeAnswer } from '../../moe/answer.js';
import { describeMoe } from '../../moe/describe/describe-moe.js';
import { moeSummary } from '../../moe/describe/moe-summary.js';
import { composeSections } from './compose.js';
import type { Cutter } from './limits.js';
import type { Report } from './sections.js';

const sectionsOf: readonly (readonly [id: string, title: string, holds: readonly string[]])[] = [
  ['fix', 'What would fix it', ['moe-placements']],
  ['heat', 'Heat maps', ['moe-heat-experts', 'moe-heat-time']],
  ['layers', 'Layers', ['moe-phases', 'moe-layers']],
  ['gpus', 'GPUs', ['moe-gpus', 'moe-ranks']],
  ['notes', 'Notes', ['moe-notes']],
];

export function moePage(answer: MoeAnswer, cutter: Cutter): Report {
  const blocks = describeMoe(answer, true);
  const statement = (id: string) =>
    blocks.find((block: Block): block is StatementBlock => block.kind === 'statement' && block.id === id);
  const sections = sectionsOf.map(([id, title, holds]) => ({
    id,
    title,
    blocks: blocks.filter(block => holds.includes(block.id)),
    appendix: id === 'layers' || id === 'gpus' || id === 'notes',
  }));
  return composeSections(
    statement('moe-what'),
    statement('moe-answer'),
    sections,
    cutter,
    moeSummary(answer),
  );
}
