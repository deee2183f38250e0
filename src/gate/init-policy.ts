/** A policy to begin with, made from a run's own figures: it holds for that run, with room, and says what each line is. */

import { type Phase, phases } from '../catalog/phases.js';
import { type Metric, metricById, type Unit } from '../run/metrics.js';
import { type Figures, mainPhase, type Run, type RunFacts } from '../run/run.js';
import { formatValue } from './quantity.js';

interface Proposal {
  readonly metric: string;
  /** Of the figure: the bound that holds for the run with this much room. */
  readonly room: number;
  /** What to write once there is a baseline. */
  readonly change: string;
  readonly severity?: 'warn';
}

const perPhase: readonly Proposal[] = [
  { metric: 'step.p50', room: 0.1, change: '3%' },
  { metric: 'step.p99', room: 0.25, change: '10%', severity: 'warn' },
  { metric: 'idle', room: 0.25, change: '2pp' },
  { metric: 'communication.exposed', room: 0.25, change: '1pp' },
  { metric: 'kernels', room: 0, change: '0' },
  { metric: 'graph.coverage', room: 0.05, change: '1pp' },
  { metric: 'token.rate', room: 0.1, change: '3%' },
];

export function initialPolicy(run: Run, tool: string): string {
  const main = mainPhase(run.facts);
  const present = phases.map(({ id }) => id).filter(id => run.figures[id] !== undefined);
  const sections = present.map(phase => phaseSection(phase, run.figures[phase]!));
  const memory = run.figures.run?.['memory.peak'];
  const ofRun = memory
    ? [
        entry(
          metricById('memory.peak')!,
          memory.value,
          { metric: 'memory.peak', room: 0.1, change: '5%' },
          undefined,
        ),
      ]
    : [];
  return `${[
    ...header(run, tool),
    'version: 1',
    '',
    '# The baseline to compare runs with (stepscope baseline save main FILE --repeat FILE2 …).',
    '# baseline: main',
    '',
    '# Default phase for limits without a "phase", and the confidence level for changes.',
    ...(main ? [`phase: ${main}`] : []),
    'confidence: 95%',
    '',
    'limits:',
    ...sections.flat(),
    ...ofRun.flat(),
  ].join('\n')}\n`;
}

function header({ files, facts }: Run, tool: string): string[] {
  const lines = [
    `Limits for stepscope check, made by ${tool} from ${files.join(', ')}`,
    `(${factsText(facts)}).`,
    'Bounds are the figures of that run with some margin: tighten them, or use the max_increase lines',
    'once you have a baseline. docs/gate.md explains every key.',
  ];
  return [...lines.map(line => `# ${line}`), ''];
}

function factsText({ gpu, gpus, engine, phases: found }: RunFacts): string {
  const parts = [
    gpu && `${gpus > 1 ? `${gpus} × ` : ''}${gpu}`,
    engine,
    ...Object.entries(found).map(
      ([name, { steps, batch }]) => `${steps} ${name} steps${batch ? ` of batch ${batch}` : ''}`,
    ),
  ];
  return parts.filter(part => part).join(', ') || 'no details known';
}

function phaseSection(phase: Phase, figures: Figures): string[] {
  const largest = Object.entries(figures)
    .filter(([id]) => id.startsWith('family.'))
    .sort((a, b) => b[1].value - a[1].value)[0];
  const proposals = [
    ...perPhase,
    ...(largest ? [{ metric: largest[0], room: 0.1, change: '3%', severity: 'warn' } as const] : []),
  ];
  return proposals.flatMap(proposal => {
    const figure = figures[proposal.metric];
    const metric = metricById(proposal.metric)!;
    // A bound of nothing on nothing fails with the first step that has any.
    const isEmpty = figure?.value === 0 && proposal.metric !== 'graph.coverage';
    return !figure || isEmpty || (metric.better === 'higher' && figure.value === 0)
      ? []
      : entry(metric, figure.value, proposal, phase);
  });
}

function entry(metric: Metric, value: number, proposal: Proposal, phase: Phase | undefined): string[] {
  const isUpper = metric.better === 'lower';
  const bound = boundText(value * (isUpper ? 1 + proposal.room : 1 - proposal.room), metric.unit, isUpper);
  return [
    `  # ${metric.about}: ${formatValue(value, metric.unit)} in this run`,
    `  - metric: ${metric.id}`,
    ...(phase ? [`    phase: ${phase}`] : []),
    `    ${isUpper ? 'max' : 'min'}: ${bound}`,
    `    # ${isUpper ? 'max_increase' : 'max_decrease'}: ${proposal.change}`,
    ...(proposal.severity ? [`    severity: ${proposal.severity}`] : []),
  ];
}

/** Three digits, rounded away from the figure, so that the run itself keeps to it. */
function boundText(value: number, unit: Unit, isUpper: boolean): string {
  if (unit === 'count') return String(isUpper ? Math.ceil(value) : Math.floor(value));
  const [scale, suffix] = scaleOf(value, unit);
  const amount = value / scale;
  const step = 10 ** (Math.floor(Math.log10(Math.max(amount, 1e-9))) - 2);
  const rounded = (isUpper ? Math.ceil(amount / step - 1e-9) : Math.floor(amount / step + 1e-9)) * step;
  const capped = unit === 'share' ? Math.min(100, rounded) : rounded;
  return `${Number(capped.toPrecision(6))}${suffix}`;
}

function scaleOf(value: number, unit: Exclude<Unit, 'count'>): [scale: number, suffix: string] {
  if (unit === 'share') return [0.01, '%'];
  if (unit === 'per-second') return [1, '/s'];
  if (unit === 'bytes') return value < 1e9 ? [1e6, 'MB'] : [1e9, 'GB'];
  return value < 1e3 ? [1, 'ns'] : value < 1e6 ? [1e3, 'us'] : value < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
}
