// Your own analysis, finding, kernel rule and marker, for every command:
//   stepscope analyze profile.sqlite --plugin plugin.mjs --only longest-step
// A plugin is an object, or a function that gets the library and returns one.
export default ({ field, finding, iterations, keyField }) => {
  const longestStep = {
    id: 'longest-step',
    title: 'Longest step',
    question: 'Which step took longest?',
    reads: {},
    uses: [iterations],
    fields: {
      key: keyField,
      iteration: field.id('Iteration', "the engine's number"),
      wallNs: field.ns('Wall', 'length of the step'),
    },
    compute({ use }) {
      const [longest] = [...use(iterations).rows].sort((a, b) => b.wallNs - a.wallNs);
      if (!longest) return { rows: [] };
      const { iteration, wallNs } = longest;
      return { rows: [{ key: `iteration:${iteration}`, iteration, wallNs }] };
    },
  };
  return {
    name: 'longest',
    analyses: [longestStep],
    findings: [
      {
        id: 'long-step',
        about: 'a step twice as long as the median of its phase',
        uses: [longestStep, iterations],
        look(input) {
          const [longest] = input.use(longestStep).rows;
          const all = input
            .use(iterations)
            .rows.map(row => row.wallNs)
            .sort((a, b) => a - b);
          const median = all[Math.floor(all.length / 2)];
          if (!longest || longest.wallNs < 2 * median) return [];
          return [
            finding('long-step', input, {
              claim: `Step ${longest.iteration} takes ${(longest.wallNs / median).toFixed(1)} times the median`,
              phase: null,
              costNs: null,
              costShare: null,
              gain: null,
              confidence: 'possible',
              evidence: [{ text: 'wall time', analysis: 'longest-step', rows: [longest.key] }],
              confirm: 'stepscope steps FILE',
            }),
          ];
        },
      },
    ],
    kernelRules: [{ id: 'my-gemm', family: 'gemm', pattern: /^my_gemm/, source: 'our kernels' }],
    markers: [
      {
        engine: 'ours',
        pattern: /^our step (?<iteration>\d+) (?<phase>prefill|decode)$/,
        source: 'our engine',
      },
    ],
  };
};
