import type { Block } from '../../analyze/block.js';
import { UserError } from '../../base/user-error.js';
import { compareMeasured } from '../../compare/frameworks/compare-frameworks.js';
import { describeFrameworks } from '../../compare/frameworks/describe-frameworks.js';
import { frameworksCsv, frameworksDocument } from '../../compare/frameworks/frameworks-document.js';
import { initConfig } from '../../compare/frameworks/init-config.js';
import { markdown } from '../../report/markdown.js';
import { text } from '../../report/text.js';
import { readArguments } from '../arguments.js';
import type { Command } from '../command.js';
import { measureAll, openConfig } from '../frameworks-input.js';
import { frameworksPage } from '../frameworks-page.js';
import { refuseExisting, writeResult } from '../write-result.js';

const formats = ['table', 'json', 'csv', 'markdown'] as const;

export const frameworks: Command = {
  name: 'frameworks',
  summary:
    'Compare frameworks: throughput, where a token’s time goes, why one is faster, and if that is fair.',
  usage: 'stepscope frameworks CONFIG [--html FILE | --json | --csv | --markdown]',
  options: [
    { flags: '--init', meaning: 'print a commented CONFIG to fill in' },
    { flags: '--html FILE', meaning: 'write one self-contained page with charts' },
    { flags: '--force', meaning: 'overwrite a file that is there' },
    { flags: '--json', meaning: 'everything, by docs/schemas' },
    { flags: '--csv', meaning: 'a line per framework, phase and figure in base units' },
    { flags: '--markdown', meaning: 'the page, for a pull request' },
    { flags: '-f, --format FORMAT', meaning: 'table (default), csv, json or markdown' },
    { flags: '-h, --help', meaning: 'this text' },
  ],
  examples: [
    ['stepscope frameworks --init > frameworks.yaml', 'then name your profiles and benchmark results in it'],
    ['stepscope frameworks frameworks.yaml', 'the page'],
    ['stepscope frameworks frameworks.yaml --html frameworks.html', 'for readers without the tool'],
    ['stepscope frameworks docs/examples/frameworks-bundled.yaml', 'an example that runs in a clone'],
  ],
  async run(args, output) {
    const { values, positionals } = readArguments('frameworks', args, {
      init: { type: 'boolean' },
      html: { type: 'string' },
      force: { type: 'boolean' },
      json: { type: 'boolean' },
      csv: { type: 'boolean' },
      markdown: { type: 'boolean' },
      format: { type: 'string', short: 'f' },
    });
    if (values.init) {
      output.out(initConfig);
      return 0;
    }
    const format = chosenFormat(values);
    const [file] = positionals;
    if (file === undefined || positionals.length > 1)
      throw new UserError(
        'usage',
        file === undefined ? 'No CONFIG was given.' : 'Give one CONFIG.',
        'For example: stepscope frameworks --init > frameworks.yaml, then stepscope frameworks frameworks.yaml',
      );
    const force = values.force === true;
    if (values.html !== undefined && !force) refuseExisting(values.html);
    const config = openConfig(file);
    const comparison = compareMeasured(await measureAll(file, config, output), config.title);
    if (values.html !== undefined) {
      writeResult(values.html, frameworksPage(comparison), force, output);
      return 0;
    }
    if (format === 'json') output.out(`${JSON.stringify(frameworksDocument(comparison), null, 1)}\n`);
    else if (format === 'csv') output.out(frameworksCsv(comparison));
    else {
      const blocks: Block[] = describeFrameworks(comparison);
      const renderer = format === 'markdown' ? markdown : text;
      output.out(renderer.render(blocks, { width: output.width, color: output.color }));
    }
    return 0;
  },
};

function chosenFormat(values: {
  json?: boolean;
  csv?: boolean;
  markdown?: boolean;
  format?: string;
  html?: string;
}) {
  const asked = [
    ...(['json', 'csv', 'markdown'] as const).filter(name => values[name]),
    ...(values.format === undefined ? [] : [values.format]),
  ];
  const known = formats.find(name => name === (asked[0] ?? 'table'));
  if (known && new Set(asked).size <= 1 && !(values.html !== undefined && asked.length > 0)) return known;
  throw new UserError(
    'usage',
    known ? 'Several formats were asked for.' : `There is no format ${JSON.stringify(asked[0])}.`,
    `Use one of: ${formats.join(', ')}; or --html FILE`,
  );
}
