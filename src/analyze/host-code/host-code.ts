/** Which host code the GPU waits for, by name: the places that hold most of the host-caused idle time. */
import { formatDuration } from '../../base/units.js';
import { adviceOnCode } from '../../catalog/host-code-advice.js';
import { idleCauses } from '../../catalog/idle-causes.js';
import type { Phase } from '../../catalog/phases.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { KEEP } from '../block.js';
import { field, keyField, maybe, quiet, type RowOf } from '../field.js';
import { perStep } from '../words.js';
import { blockerWords } from './blocker-text.js';
import { ROOT } from './call-paths.js';
import { totalsOf } from './call-tree.js';
import { hostBlockers } from './host-blockers.js';
import { hotPaths } from './hot-paths.js';
import { hostCauses } from './idle-code.js';
import { namedTime } from './named-share.js';
import { hintForNames } from './names-hint.js';

/** Smaller places are added up in one row. */
const LEAST_SHARE = 0.02;
/** The page has a line or two for it. */
const PLACES_ON_PAGE = 2;
const ELSEWHERE = 'elsewhere';

const fields = {
  key: keyField,
  phase: maybe(field.text<Phase>('Phase', 'null: outside all steps')),
  idlePerStepNs: field.nsMean('Idle per step', 'GPU idle time that the code causes, per step and device'),
  share: field.share('Share (%)', 'of the host-caused idle time of the phase'),
  callsPerStep: field.mean('Calls', 'calls with such idle time, per step and device'),
  code: field.text('Code', 'who called, which operator, which CUDA or OS call', { priority: KEEP }),
  modules: quiet(maybe(field.text('Modules', 'classes of the modules around it, outermost first'))),
  cause: quiet(field.text('Main cause', 'idle cause with the largest part')),
  idleNs: quiet(
    field.ns('Idle', 'over all selected steps; the rows of a phase sum to its host-caused idle time'),
  ),
  advice: quiet(maybe(field.text('Advice', 'what to do about code of this name'))),
};

type HostCodeRow = RowOf<typeof fields>;

interface HostCodeResult extends AnalysisResult<HostCodeRow> {
  /** By phase, for the page. */
  readonly words: ReadonlyMap<Phase | null, string>;
}

export const hostCode: Analysis<HostCodeRow, HostCodeResult> = {
  id: 'host-code',
  title: 'Host code the GPU waits for',
  question: 'Which host code does the GPU wait for?',
  reads: {},
  uses: [hostBlockers],
  needs: [['kernels', 'copies', 'memsets', 'graphLaunches']],
  fields,
  headline: {
    label: 'host code',
    text: ({ words }, phase) => words.get(phase),
  },
  compute({ profile, use }) {
    const blockers = use(hostBlockers);
    const { paths, windows, sums } = blockers;
    const words = new Map<Phase | null, string>();
    const rows = [...windows].flatMap(([phase, count]): HostCodeRow[] => {
      const all = sums(phase, 'all');
      if (!all) return [];
      const per = phase === null ? 1 : count;
      const { totalNs, text, ...named } = blockerWords(blockers, phase, 'all', PLACES_ON_PAGE)!;
      const hint = hintForNames(profile, { totalNs, ...named });
      const more = hint === undefined ? '' : `; to name the rest: ${hint}`;
      words.set(phase, `${formatDuration(totalNs / per)} ${perStep(phase)}: ${text}${more}`);
      const byCause = hostCauses.flatMap(cause => {
        const own = sums(phase, cause);
        return own ? [{ cause, totals: totalsOf(paths, own.selfNs) }] : [];
      });
      const places = hotPaths(paths, all, { leastShare: LEAST_SHARE });
      const rest = totalNs - places.reduce((sum, { ns }) => sum + ns, 0);
      const place = phase ?? 'outside';
      return [
        ...places.map(({ node, label, ns, calls }): HostCodeRow => {
          const [main] = [...byCause].sort((a, b) => b.totals[node] - a.totals[node]);
          return {
            key: `${place}/${label}`,
            phase,
            idlePerStepNs: ns / per,
            share: ns / totalNs,
            callsPerStep: calls / per,
            code: label,
            modules: modulesOf(node),
            cause: idleCauses.find(({ id }) => id === main.cause)!.label,
            idleNs: ns,
            advice: adviceOnCode(namesOf(node))?.text ?? null,
          };
        }),
        ...(rest > 0
          ? [
              {
                key: `${place}/${ELSEWHERE}`,
                phase,
                idlePerStepNs: rest / per,
                share: rest / totalNs,
                callsPerStep: 0,
                code: ELSEWHERE,
                modules: null,
                cause: '',
                idleNs: rest,
                advice: null,
              },
            ]
          : []),
      ];
    });
    const totals = [...windows.keys()].flatMap(phase => {
      const all = sums(phase, 'all');
      return all ? [namedTime(paths, all)] : [];
    });
    const add = (of: 'totalNs' | 'namedNs' | 'placedNs') => totals.reduce((sum, time) => sum + time[of], 0);
    const named = { totalNs: add('totalNs'), namedNs: add('namedNs'), placedNs: add('placedNs') };
    return { rows, words, summary: { ...named, toNameTheRest: hintForNames(profile, named) ?? null } };

    function modulesOf(node: number): string | null {
      const modules = paths.pathOf(node).flatMap(part => paths.names[part]!.module ?? []);
      return modules.length > 0 ? modules.join(' › ') : null;
    }

    function namesOf(node: number): string[] {
      const names: string[] = [];
      for (let at = node; at > ROOT; at = paths.parents[at]) names.push(paths.names[at]!.text);
      return names;
    }
  },
};
