import { Analyzer } from '../../analyze/analysis.js';
import { hostBlocks } from '../../analyze/host-code/describe-host.js';
import { hostProfile, hostSources } from '../../analyze/host-code/host-profile.js';
import type { hostSchema } from '../../analyze/host-code/host-schema.js';
import { hintForNames } from '../../analyze/host-code/names-hint.js';
import type { Static } from '../../base/document.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';
import { publishedSchema } from '../schema-file.js';

/** On a screen; documents keep what is twenty times smaller. */
const SHOWN_SHARE = 0.02;

export const host = define({
  usage: ['FILE… [--inverted] [--weight idle|time] [--depth N] [options]'],
  options: ['inverted', 'weight', 'depth', ...analysisOptions, 'rows', 'schema'],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  notes: [
    ['names', 'without instance numbers and folders; time is never left out: small nodes are added up'],
    ['before X', 'nothing was recorded in this time; X is the next recorded event on the thread'],
  ],
  examples: [
    ['stepscope host trace.json.gz', 'which host code the GPU waits for, from the callers down'],
    ['stepscope host trace.json.gz --inverted', 'what takes the time on top, its callers below'],
    ['stepscope host profile.sqlite --weight time --depth 4', 'where the launching threads spend a step'],
    ['stepscope host trace.json.gz --phase decode --iterations 100-120', 'only these steps'],
    ["stepscope host trace.json.gz --json | jq '.data.tree.children[0].name'", 'for scripts'],
  ],
  async run({ values, given, destination, output, emit }) {
    if (values.schema) {
      output.out(publishedSchema('host'));
      return 0;
    }
    requireFiles('host', given);
    const analyzer = new Analyzer(await profileFor(given, hostSources, output), settingsOf(values));
    const question = { weight: values.weight, inverted: values.inverted, depth: values.depth };
    const profileOfHost = (leastShare?: number) => hostProfile(analyzer, { ...question, leastShare });
    await emit({
      blocks: () => {
        const found = profileOfHost(SHOWN_SHARE);
        return hostBlocks(found, hintForNames(analyzer.profile, found));
      },
      document: (): Static<typeof hostSchema> => ({
        schema: 'stepscope-host/1',
        files: analyzer.profile.capture.files,
        ...profileOfHost(),
      }),
      shown: { rowLimit: values.rows },
      view: { files: given },
    });
    if (destination.format !== 'json') tellLosses(analyzer.profile, output);
    return 0;
  },
});
