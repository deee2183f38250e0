/** What became of the files, in words. */
import type { Block } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { plural } from '../base/units.js';
import { countOf, type MapResult } from './map-files.js';

export function describeMap(result: MapResult): Block[] {
  const { request, outcomes } = result;
  const broken = outcomes.flatMap(outcome => (outcome.status === 'broken' ? [outcome.broken] : []));
  const [mapped, already] = [countOf(result, 'mapped'), countOf(result, 'already')];
  const runs = new Set(
    outcomes.flatMap(outcome => (outcome.status === 'broken' ? [] : outcome.partition.split(/[\\/]/)[0])),
  );
  const parts = [
    `${plural(mapped, 'file')} mapped`,
    ...(already > 0 ? [`${already} already in the lake`] : []),
    ...(broken.length > 0 ? [`${broken.length} broken`] : []),
    ...(request.passedOver.length > 0
      ? [`${request.passedOver.length} in folders skipped because they are not profiles`]
      : []),
  ];
  const lines = [
    `${parts.join(', ')}.`,
    `${request.lake} has the ${plural(runs.size, 'run')} of these files. For a report: stepscope fleet report ${request.lake}`,
  ];
  const blocks: Block[] = [{ kind: 'statement', id: 'mapped', title: 'Mapped', lines }];
  if (broken.length > 0)
    blocks.push(
      tableOf(
        broken,
        {
          id: 'broken',
          title: 'Broken files',
          advice: 'They are listed in the lake and tried again by the next fleet map.',
        },
        [
          ['File', 'text', ({ path }) => path],
          ['Problem', 'text', ({ message }) => message],
          ['What to do', 'text', ({ hint }) => hint],
        ],
      ),
    );
  return blocks;
}
