import { DEFAULT_THRESHOLD } from '../../compare/compare-configurations.js';
import { ROUTER_THRESHOLD } from '../../moe/experiment/router-pair.js';
import { readConfigurations } from '../asked-configurations.js';
import { define } from '../command.js';
import { comparedBenchmarks, comparedProfiles, profiledSides } from '../compared-result.js';
import { profileOptions } from '../options.js';
import { settingsOf } from '../profile-of.js';
import { routerPairResult } from '../router-pair-result.js';
import { publishedSchema } from '../schema-file.js';

export const compare = define({
  usage: ['BASE OTHER… [options]'],
  options: [
    ...profileOptions,
    ...(['model', 'gpu', 'tp', 'threshold', 'onlyComparable', 'perfectRouter', 'schema'] as const),
  ],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  notes: [
    ['BASE, OTHER', 'a profile, a folder of ranks or a benchmark result; NAME=FILE,FILE for repeats'],
    ['NAME=PROFILE,FILE', 'a profile with the log or the benchmark result of its run'],
    [
      'without --threshold',
      `${DEFAULT_THRESHOLD * 100}%; with --perfect-router, routing is the bottleneck from a gain of ${ROUTER_THRESHOLD * 100}%`,
    ],
  ],
  examples: [
    [
      'stepscope compare eager.sqlite graph.sqlite',
      'what changed, by how much, whether it is significant, and why',
    ],
    ['stepscope compare before/ after/ --phase decode', 'folders of ranks, decode steps only'],
    [
      'stepscope compare base=a1.sqlite,a2.sqlite,a3.sqlite new=b1.sqlite,b2.sqlite',
      'repeats, to measure run-to-run noise',
    ],
    [
      'stepscope compare base.sqlite b.sqlite c.sqlite -o compare.html',
      'each run against the first, as an HTML page',
    ],
    ['stepscope compare old=a1.json,a2.json new=b1.json,b2.json', 'benchmark results'],
    ['stepscope compare --perfect-router normal.json perfect.json', 'is routing imbalance the bottleneck?'],
    [
      "stepscope compare a.sqlite b.sqlite --json | jq '.data.comparisons[0].phases[0].terms'",
      'for scripts; terms sum to changeNs',
    ],
  ],
  async run({ values, given, output, emit }) {
    if (values.schema) {
      output.out(publishedSchema('compare'));
      return 0;
    }
    const settings = settingsOf(values);
    const asked = await readConfigurations(given);
    const { threshold, onlyComparable } = values;
    if (values.perfectRouter) {
      const [normal, perfect] = asked.map(({ runs }) => runs);
      await emit(await routerPairResult({ normal, perfect, threshold, settings }, output));
    } else {
      const sides = await profiledSides(asked);
      await emit(
        sides
          ? await comparedProfiles(sides, settings, { threshold, onlyComparable }, output)
          : await comparedBenchmarks(asked),
      );
    }
    return 0;
  },
});
