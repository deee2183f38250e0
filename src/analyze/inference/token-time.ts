/** What one output token costs, split by where the time goes. */
import { formatDuration } from '../../base/units.js';
import type { Phase } from '../../catalog/phases.js';
import { phases } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { NotRecorded } from '../analysis.js';
import { field, keyField, type RowOf } from '../field.js';
import { addBudgets } from './budget-totals.js';
import { windowBudgets } from './step-budget.js';
import { stepsOf } from './steps.js';

/** Idle the host did not cause. */
export const NOT_HOST = ['device-wait', 'unknown'];

const fields = {
  key: keyField,
  phase: field.text<Phase>('Phase', 'steps that decode'),
  steps: field.count('Steps', 'with a known number of requests'),
  tokensPerStep: field.mean(
    'Tokens',
    'decoding requests: one token each, also in speculative steps, because acceptance is not recorded',
  ),
  interTokenNs: field.nsMean(
    'Between tokens',
    'wall time of a step and the draft steps before it: the inter-token latency of a request',
  ),
  perTokenNs: field.nsMean('Per token', 'wall time divided by tokens'),
  kernelNs: field.nsMean('Kernels', 'compute, per token'),
  communicationNs: field.nsMean('Comm', 'exposed communication, per token'),
  copyNs: field.nsMean('Copies', 'exposed copies, per token'),
  hostNs: field.nsMean('Host', 'idle time caused by the host, per token'),
  idleNs: field.nsMean('Other idle', 'device-side waits and unknown causes, per token'),
};

type TokenTimeRow = RowOf<typeof fields>;

export const tokenTime: Analysis<TokenTimeRow, AnalysisResult<TokenTimeRow>> = {
  id: 'token-time',
  title: 'Time per output token',
  question: 'How long does one output token take, and where does the time go?',
  reads: {},
  uses: [windowBudgets, stepsOf],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
  headline: {
    label: 'per token',
    text({ rows }, phase) {
      const row = rows.find(candidate => candidate.phase === phase);
      if (!row) return undefined;
      const parts = [
        ['kernels', row.kernelNs],
        ['communication', row.communicationNs],
        ['copies', row.copyNs],
        ['host', row.hostNs],
        ['other idle', row.idleNs],
      ] as const;
      const shown = parts.filter(([, ns]) => ns > 0).map(([name, ns]) => `${name} ${formatDuration(ns)}`);
      // Prefill shares the step, and its tokens are no output: only the wait between two tokens is one request's.
      if (phase === 'mixed')
        return `${formatDuration(row.interTokenNs)} between two tokens of a request; prefill shares the step`;
      const assumed = phase === 'speculative' ? '; one accepted token per step assumed' : '';
      return `${formatDuration(row.perTokenNs)} = ${shown.join(' + ')}${assumed}`;
    },
  },
  compute({ use }) {
    const steps = use(stepsOf)?.steps ?? [];
    const budgets = use(windowBudgets);
    const ofPhase = (phase: Phase) =>
      budgets.filter(({ window: { step } }) => {
        const facts = steps[step]?.facts;
        return facts?.phase === phase && (facts.generationRequests ?? 0) > 0;
      });
    const rows = phases.flatMap(({ id: phase }): TokenTimeRow[] => {
      if (phase === 'draft') return [];
      const own = ofPhase(phase);
      if (own.length === 0) return [];
      // Tokens come out of the target's steps; drafting for them is part of their price.
      const paid = phase === 'speculative' ? [...own, ...ofPhase('draft')] : own;
      // Windows of several devices are one step's: tokens are counted once per window, time once per window.
      const tokens = own.reduce((sum, { window }) => sum + steps[window.step].facts.generationRequests!, 0);
      const total = addBudgets(paid.map(({ budget }) => budget));
      const notHost = NOT_HOST.reduce((sum, cause) => sum + (total.idleByCause[cause] ?? 0), 0);
      return [
        {
          key: `phase:${phase}`,
          phase,
          steps: new Set(own.map(({ window }) => window.step)).size,
          tokensPerStep: tokens / own.length,
          interTokenNs: total.wallNs / own.length,
          perTokenNs: total.wallNs / tokens,
          kernelNs: total.computeNs / tokens,
          communicationNs: total.communicationExposedNs / tokens,
          copyNs: total.copyExposedNs / tokens,
          hostNs: (total.idleNs - notHost) / tokens,
          idleNs: notHost / tokens,
        },
      ];
    });
    if (rows.length === 0)
      throw new NotRecorded(
        'requests per decode step',
        'capture with the engine’s step markers (NVTX, or a PyTorch trace)',
      );
    return { rows };
  },
};
