/** A result as one HTML file, with the chart library as installed beside this package. */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { createRequire } from 'node:module';
import * as path from 'node:path';
import type { Block } from '../analyze/block.js';
import { composeBlocks } from '../report/html/compose.js';
import type { Cutter } from '../report/html/limits.js';
import { type Assets, fitPage } from '../report/html/page.js';
import type { Report } from '../report/html/sections.js';
import { version } from './version.js';

interface PageSource {
  blocks(): readonly Block[];
  /** Where a page says more than its blocks. */
  page?(cutter: Cutter): Report;
  readonly maxBytes?: number;
}

export const htmlPage = ({ blocks, page, maxBytes }: PageSource): string =>
  fitPage(cutter => page?.(cutter) ?? composeBlocks(blocks(), cutter), pageAssets(), maxBytes);

function pageAssets(): Assets {
  const main = createRequire(import.meta.url).resolve('chart.js');
  return {
    chartJs: fs.readFileSync(path.join(path.dirname(main), 'chart.umd.js'), 'utf8'),
    flame: { script: builtFile('flame.js'), style: builtFile('flame.css') },
    sha256: text => createHash('sha256').update(text).digest('base64'),
    madeBy: `stepscope ${version()}`,
  };
}

/** What Vite built for reports, next to the compiled sources. */
const builtFile = (name: string): string =>
  fs.readFileSync(new URL(`../../report/${name}`, import.meta.url), 'utf8');
