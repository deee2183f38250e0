/** The result of a check as figures for a monitoring system: what was measured, against what, and what came of it. */
import { type CheckResult, exitCodeOf } from './check.js';

interface FigureFamily {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

/** What is not recorded has no sample: a zero would be a statement. */
export function checkFigures({ verdict, limits, baseline }: CheckResult): FigureFamily[] {
  const labelled = limits.map(one => ({
    one,
    labels: { metric: one.limit.metric.id, phase: one.scope ?? 'run', unit: one.limit.metric.unit },
  }));
  const samples = (of: (limit: (typeof limits)[number]) => number | undefined) => {
    const known = new Map<string, FigureFamily['samples'][number]>();
    for (const { one, labels } of labelled) {
      const value = of(one);
      if (value !== undefined && Number.isFinite(value)) known.set(JSON.stringify(labels), { labels, value });
    }
    return [...known.values()];
  };
  return [
    {
      name: 'stepscope_check_exit_code',
      help: 'Result of the check: 0 pass, 1 regression, 2 not comparable',
      samples: [{ labels: baseline ? { baseline: baseline.name } : {}, value: exitCodeOf[verdict] }],
    },
    {
      name: 'stepscope_measured',
      help: 'Measured value of a metric, in the unit of its label',
      samples: samples(({ measured }) => measured),
    },
    {
      name: 'stepscope_baseline',
      help: 'Value of the same metric in the baseline',
      samples: samples(one => one.baseline),
    },
    {
      name: 'stepscope_regression',
      help: '1: a limit of this metric is broken; 0: none is',
      samples: samples(({ limit: { metric }, scope }) => {
        const own = limits.filter(one => one.limit.metric.id === metric.id && one.scope === scope);
        return own.some(one => one.verdict === 'regression') ? 1 : 0;
      }),
    },
  ];
}
