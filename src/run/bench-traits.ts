/** The settings a benchmark prints, as traits: where they differ, another question was asked or that is what is compared. */
import { type BenchSetting, benchSettings } from '../catalog/bench-metrics.js';
import type { Effect, Purpose, Trait } from './trait.js';
import { once } from './trait-values.js';

const settingEffects = ({ id, difference }: BenchSetting): Trait['effects'] => ({
  compare: difference,
  // The rest is often the change under test, and not kept.
  ...(difference === 'prevents' ? { check: 'prevents' } : {}),
  ...(id in frameworksAsk ? { frameworks: frameworksAsk[id] } : {}),
  router: 'prevents',
});
const frameworksAsk: Readonly<Record<string, Effect>> = {
  model: 'prevents',
  inputTokens: 'prevents',
  outputTokens: 'prevents',
  maxConcurrency: 'prevents',
  batchSize: 'prevents',
  requestRate: 'prevents',
  kvCacheDtype: 'explains',
  tool: 'weakens',
};
/** What a pair of benchmarks stands on is missed where nobody prints it. */
const routerNeeds = /^(dataset|model|inputTokens|outputTokens)$/;
const settingWords: Readonly<Record<string, string>> = {
  model: 'a different model was benchmarked',
  inputTokens: 'longer prompts cost more',
  outputTokens: 'longer outputs cost more',
  maxConcurrency: 'throughput depends on concurrency',
  batchSize: 'throughput depends on the batch size',
  requestRate: 'throughput depends on the request rate',
  kvCacheDtype: 'a smaller cache type reads fewer bytes in attention',
  tool: 'tools define some figures differently',
};

export const benchTraits: readonly Trait[] = benchSettings
  // Told with the profile's own.
  .filter(({ id }) => id !== 'gpu' && id !== 'gpus')
  .map(setting => {
    const { id, label, difference, tolerance, of } = setting;
    const silent: Purpose[] = [
      ...(difference === 'explains' ? (['compare'] as const) : []),
      ...(routerNeeds.test(id) ? [] : (['router'] as const)),
      ...(/^(kvCacheDtype|requestRate|batchSize)$/.test(id) ? (['frameworks'] as const) : []),
      'check',
    ];
    return {
      id,
      label,
      of: 'benchmark',
      // A baseline keeps what would prevent a comparison; the rest only the benchmark itself tells.
      values: side => once(side.map(({ facts: { load }, bench }) => load?.[id] ?? (bench && of(bench)))),
      ...(tolerance === undefined ? {} : { tolerance }),
      effects: settingEffects(setting),
      why: settingWords[id] ?? 'the workload is different',
      silent,
      kind: 'load',
    };
  });
