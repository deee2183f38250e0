import { UserError } from '../../base/user-error.js';
import { compareMeasured } from '../../compare/frameworks/compare-frameworks.js';
import { describeFrameworks } from '../../compare/frameworks/describe-frameworks.js';
import { frameworksCsv, frameworksDocument } from '../../compare/frameworks/frameworks-document.js';
import { initConfig } from '../../compare/frameworks/init-config.js';
import { frameworksPage } from '../../report/html/frameworks-page.js';
import { define } from '../command.js';
import { measureAll, openConfig } from '../frameworks-input.js';

export const frameworks = define({
  usage: ['CONFIG [options]'],
  options: ['initConfig'],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  examples: [
    ['stepscope frameworks --init > frameworks.yaml', 'then name your profiles and benchmark results in it'],
    ['stepscope frameworks frameworks.yaml', 'print the comparison'],
    ['stepscope frameworks frameworks.yaml --html -o frameworks.html', 'for readers without Stepscope'],
    ['stepscope frameworks docs/examples/frameworks-bundled.yaml', 'an example included in the repository'],
  ],
  async run({ values, given, output, emit }) {
    if (values.initConfig) {
      output.out(initConfig);
      return 0;
    }
    const [file] = given;
    if (file === undefined || given.length > 1)
      throw new UserError(
        'usage',
        file === undefined ? 'No CONFIG was given.' : 'Give one CONFIG.',
        'For example: stepscope frameworks --init > frameworks.yaml, then stepscope frameworks frameworks.yaml',
      );
    const config = openConfig(file);
    const comparison = compareMeasured(await measureAll(file, config, output), config.title);
    await emit({
      blocks: () => describeFrameworks(comparison),
      document: () => frameworksDocument(comparison),
      csv: () => frameworksCsv(comparison),
      page: cutter => frameworksPage(comparison, cutter),
    });
    return 0;
  },
});
