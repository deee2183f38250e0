/** What a page that stands alone is made with: the chart library as installed beside this package, and hashes. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import type { Assets } from '../report/html/page.js';
import { version } from './version.js';

export function pageAssets(): Assets {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return {
    chartJs: fs.readFileSync(path.join(path.dirname(main), 'chart.umd.js'), 'utf8'),
    sha256: text => createHash('sha256').update(text).digest('base64'),
    madeBy: `stepscope ${version()}`,
  };
}
