/** A baseline in words: what the runs were, and each figure with how far it moves by itself. */

import type { Block, FactsBlock, TableBlock } from '../analyze/block.js';
import { tableOf } from '../analyze/table-of.js';
import { metricById } from '../run/metrics.js';
import type { RunFacts, Scope } from '../run/run.js';
import { sideMean } from '../stats/noise.js';
import type { Baseline } from './baselines.js';
import { estimatesOf, floorOf } from './noise.js';
import { formatValue } from './quantity.js';

const stepsText = ({ phases: found }: RunFacts): string =>
  Object.entries(found)
    .map(([phase, { steps, batch }]) => `${steps} ${phase}${batch ? `, batch ${batch}` : ''}`)
    .join('; ');

export function describeBaseline({ name, tool, runs }: Baseline): Block[] {
  const { facts } = runs[0];
  const { gpu, gpus, engine, driver, profiler, profilerVersion, graphs, model } = facts;
  const said: FactsBlock = {
    kind: 'facts',
    id: 'facts',
    title: `Baseline ${name}`,
    facts: [
      ['runs', `${runs.length}: ${runs.map(run => run.files.join(' + ')).join(', ')}`],
      ['measured by', tool],
      ['GPU', `${gpus} × ${gpu ?? 'unknown'}${driver ? `, driver ${driver}` : ''}`],
      ['engine', engine ?? 'unknown'],
      ['recorded by', `${profiler} ${profilerVersion ?? ''}`.trim()],
      ['CUDA graphs', graphs],
      ['steps', stepsText(facts)],
      [
        'model',
        model
          ? `${model.layers} layers × ${model.kernelsPerLayer} kernels + ${model.otherKernels}`
          : 'unknown',
      ],
    ].map(([label, words]) => ({ label, text: words })),
  };
  const rows = Object.entries(runs[0].figures).flatMap(([scope, figures]) =>
    Object.keys(figures).flatMap(id => {
      const metric = metricById(id);
      if (!metric) return [];
      const value = sideMean(estimatesOf(runs, scope as Scope, metric));
      // What the next run of the same code would have to exceed.
      const noise = floorOf([runs[0]], runs, scope as Scope, metric);
      return [{ name: scope === 'run' ? id : `${scope} ${id}`, metric, value, noise }];
    }),
  );
  const table: TableBlock = tableOf(rows, { id: 'figures', title: 'Figures' }, [
    ['Metric', 'text', row => row.name],
    ['Value', 'text', ({ value, metric }) => formatValue(value, metric.unit)],
    [
      'Noise floor',
      'text',
      ({ noise, metric }) =>
        noise.source === 'unknown' ? 'unknown' : `${formatValue(noise.floor, metric.unit)} (${noise.source})`,
    ],
  ]);
  return [said, table];
}

export function listBaselines(baselines: readonly Baseline[]): TableBlock {
  return tableOf(baselines, { id: 'baselines', title: 'Baselines' }, [
    ['Name', 'text', one => one.name],
    ['Runs', 'text', one => String(one.runs.length)],
    ['GPU', 'text', one => one.runs[0].facts.gpu ?? '–'],
    ['Steps', 'text', one => stepsText(one.runs[0].facts)],
    ['Engine', 'text', one => one.runs[0].facts.engine ?? '–'],
    ['Files', 'text', one => one.runs[0].files.join(', ')],
  ]);
}
