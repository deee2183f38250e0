/** Whether a pair of runs differs in the router alone. Anything else that changed may be the reason for a gain. */
import { formatCount } from '../base/units.js';
import { benchSettings } from '../catalog/bench-metrics.js';
import type { RouterPhase, RouterSide } from './perfect-router-steps.js';

export interface PairCheck {
  readonly id: string;
  readonly label: string;
  readonly status: 'ok' | 'differs' | 'unknown';
  readonly normal: string | null;
  readonly perfect: string | null;
}

/** Batches and lengths are drawn at random: this much apart is still the same load. */
const SAME = 0.05;

export function checkPair(
  normal: RouterSide,
  perfect: RouterSide,
  pairs: readonly [RouterPhase, RouterPhase][],
): PairCheck[] {
  const benched = normal.runs.length > 0 && perfect.runs.length > 0;
  const profiled = normal.profile !== undefined && perfect.profile !== undefined;
  return [
    ...(benched ? benchSettings.flatMap(setting => settingCheck(setting, normal, perfect)) : []),
    ...(profiled ? profileChecks(normal.profile!, perfect.profile!, pairs) : []),
  ];
}

function settingCheck(
  { id, label, tolerance = 0, of }: (typeof benchSettings)[number],
  normal: RouterSide,
  perfect: RouterSide,
): PairCheck[] {
  const [a, b] = [normal, perfect].map(({ runs }) => [...new Set(runs.map(of))]);
  const all = [...a, ...b].filter(value => value !== undefined);
  // What no one prints says nothing, but for what the pair stands on.
  if (all.length === 0 && !/^(dataset|model|inputTokens|outputTokens)$/.test(id)) return [];
  const isSame = all.every(value => same(value, all[0], tolerance));
  const isStated = all.length > 0 && !a.includes(undefined) && !b.includes(undefined);
  const status = !isSame ? 'differs' : isStated ? 'ok' : 'unknown';
  return [{ id, label, status, normal: words(a), perfect: words(b) }];
}

function profileChecks(
  normal: NonNullable<RouterSide['profile']>,
  perfect: NonNullable<RouterSide['profile']>,
  pairs: readonly [RouterPhase, RouterPhase][],
): PairCheck[] {
  const check = (id: string, label: string, a: Value, b: Value, tolerance = 0): PairCheck => ({
    id,
    label,
    status: a === null || b === null ? 'unknown' : same(a, b, tolerance) ? 'ok' : 'differs',
    normal: words([a ?? undefined]),
    perfect: words([b ?? undefined]),
  });
  return [
    check('profiler', 'profiler', normal.profiler, perfect.profiler),
    check('profiledGpu', 'GPU in the profile', normal.gpu || null, perfect.gpu || null),
    check('profiledGpus', 'GPUs in the profile', normal.gpus, perfect.gpus),
    check('layers', 'layers', normal.layers, perfect.layers),
    check('graphs', 'CUDA graphs', normal.graphs, perfect.graphs),
    ...(pairs.length > 0
      ? pairs.map(([a, b]) =>
          check(
            `batch-${a.phase}`,
            `${a.phase === 'prefill' ? 'prompt tokens' : 'requests'} per ${a.phase} step`,
            a.batch,
            b.batch,
            SAME,
          ),
        )
      : [check('phases', 'phases', phaseList(normal.phases), phaseList(perfect.phases))]),
  ];
}

type Value = string | number | null;

const phaseList = (list: readonly RouterPhase[]) => list.map(({ phase }) => phase).join(', ') || null;

function same(a: string | number, b: string | number, tolerance: number): boolean {
  if (typeof a === 'number' && typeof b === 'number')
    return Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b));
  return String(a).toLowerCase() === String(b).toLowerCase();
}

function words(values: readonly (string | number | undefined)[]): string | null {
  const known = values.filter(value => value !== undefined);
  if (known.length === 0) return null;
  return known
    .map(value => (typeof value === 'number' ? formatCount(Number(value.toFixed(1))) : value))
    .join(' or ');
}
