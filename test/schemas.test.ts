/** Documents are declared once: what is published is made from the declarations, and commands do not load them. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import * as path from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { hostSchema } from '../src/analyze/host-code/host-schema.js';
import { analyses } from '../src/analyze/index.js';
import { whatifSchema } from '../src/analyze/whatif/whatif-schema.js';
import { envelopedSchema } from '../src/base/envelope-schema.js';
import { capturePlanSchema, recipeSchema } from '../src/capture/capture-schema.js';
import {
  analyzeListSchema,
  baselineListSchema,
  baselineShownSchema,
  compareBenchSchema,
  doctorSchema,
  explainSchema,
  exportSchema,
  familiesSchema,
  infoSchema,
  kernelFamilySchema,
  metricsSchema,
  ncuSchema,
  redactAnswerSchema,
  reproSchema,
  searchSchema,
  sqlAnswerSchema,
  sqlTablesSchema,
  statsListSchema,
  statsSchema,
  statsVerifySchema,
  viewSchema,
  writtenTablesSchema,
} from '../src/cli/answers-schema.js';
import { benchSchema } from '../src/compare/bench-schema.js';
import { compareSchema } from '../src/compare/compare-schema.js';
import { frameworksSchema } from '../src/compare/frameworks/frameworks-schema.js';
import { fleetJobSchema, fleetMapSchema, fleetReportSchema } from '../src/fleet/fleet-schema.js';
import { baselinesSchema, checkSchema, policySchema, trendSchema } from '../src/gate/gate-schema.js';
import { journalEntrySchema, journalSchema } from '../src/journal/journal-schema.js';
import { loadSchema, loadSummarySchema } from '../src/load/load-schema.js';
import { perfectRouterSchema } from '../src/moe/experiment/router-schema.js';
import { moeSchema } from '../src/moe/moe-schema.js';
import { moePlaceSchema } from '../src/moe/place-schema.js';
import { analysisSchema, analyzeSchema } from '../src/report/analysis-schema.js';
import { projectRoot } from '../src/testing/captures.js';
import { assertSameText } from '../src/testing/golden.js';
import { sources } from './source-files.js';

const folder = path.join(projectRoot, 'docs/schemas');

/** Files that are kept and read again. */
const files: Readonly<Record<string, object>> = {
  baselines: baselinesSchema,
  load: loadSchema,
  policy: policySchema,
  recipe: recipeSchema,
};

/** What commands print with --json, all in one envelope. */
const answers: Readonly<Record<string, object>> = {
  analyze: analyzeSchema(analyses),
  'analyze-list': analyzeListSchema,
  baseline: baselineShownSchema,
  'baseline-list': baselineListSchema,
  bench: benchSchema,
  'capture-plan': capturePlanSchema,
  check: checkSchema,
  compare: compareSchema,
  'compare-bench': compareBenchSchema,
  doctor: doctorSchema,
  explain: explainSchema,
  export: exportSchema,
  families: familiesSchema,
  'fleet-job': fleetJobSchema,
  'fleet-map': fleetMapSchema,
  'fleet-report': fleetReportSchema,
  frameworks: frameworksSchema,
  host: hostSchema,
  journal: journalSchema,
  'journal-entry': journalEntrySchema,
  info: infoSchema,
  'kernel-family': kernelFamilySchema,
  'load-summary': loadSummarySchema,
  metrics: metricsSchema,
  moe: moeSchema,
  'moe-place': moePlaceSchema,
  'perfect-router': perfectRouterSchema,
  redact: redactAnswerSchema,
  ncu: ncuSchema,
  repro: reproSchema,
  search: searchSchema,
  sql: sqlAnswerSchema,
  'sql-tables': sqlTablesSchema,
  tables: writtenTablesSchema,
  stats: statsSchema,
  'stats-list': statsListSchema,
  'stats-verify': statsVerifySchema,
  trend: trendSchema,
  view: viewSchema,
  whatif: whatifSchema,
};

const documents: Readonly<Record<string, object>> = {
  ...files,
  ...Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, envelopedSchema(answer)])),
  ...Object.fromEntries(analyses.map(analysis => [analysis.id, analysisSchema(analysis)])),
};

test('published schemas are those of the code, and no others', () => {
  for (const [name, schema] of Object.entries(documents))
    assertSameText(path.join(folder, `${name}.schema.json`), `${JSON.stringify(schema, null, 2)}\n`);
  assert.deepEqual(
    readdirSync(folder).sort(),
    Object.keys(documents)
      .map(name => `${name}.schema.json`)
      .sort(),
  );
});

test('they are sound schemas, and refer to each other by name', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  for (const schema of Object.values(documents)) ajv.addSchema(schema);
  for (const schema of Object.values(documents)) assert.ok(ajv.getSchema((schema as { $id: string }).$id));
});

/** The library takes longer to load than most commands take. */
test('nothing but declarations needs declarations at run time', () => {
  const isDeclaration = (name: string) => /(-schema|\/document)\.ts$/.test(name);
  const wrong = sources
    .filter(({ name }) => !isDeclaration(name))
    .flatMap(({ name, text }) =>
      [...text.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '([^']+)';/gm)]
        .filter(([, from]) => from === 'typebox' || isDeclaration(from.replace(/\.js$/, '.ts')))
        .map(([, from]) => `${name} loads ${from}`),
    );
  assert.deepEqual(wrong, []);
});
