/** A result as one HTML file, with the chart library as installed beside this package. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import { composeBlocks } from '../report/html/compose.js';
import { type Assets, fitPage } from '../report/html/page.js';
import type { Result } from './emit.js';
import { version } from './version.js';

export const htmlPage = ({ blocks, page, maxBytes }: Result): string =>
  fitPage(cutter => page?.(cutter) ?? composeBlocks(blocks(), cutter), pageAssets(), maxBytes);

function pageAssets(): Assets {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return {
    chartJs: fs.readFileSync(path.join(path.dirname(main), 'chart.umd.js'), 'utf8'),
    sha256: text => createHash('sha256').update(text).digest('base64'),
    madeBy: `stepscope ${version()}`,
  };
}
