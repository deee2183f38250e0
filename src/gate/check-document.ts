/** The result of a check as one JSON document, in base units. Its schema is docs/schemas/check.schema.json. */
import type { Static } from '../base/document.js';
import { type CheckResult, exitCodeOf } from './check.js';
import type { checkSchema } from './gate-schema.js';
import { finiteOrNull } from './quantity.js';

export function checkDocument(
  result: CheckResult,
  tool: string,
  policyFile: string,
): Static<typeof checkSchema> {
  const { verdict, runs, baseline, differences, limits } = result;
  return {
    schema: 'stepscope-check/1',
    tool,
    verdict,
    exitCode: exitCodeOf[verdict],
    policy: policyFile,
    run: { files: runs.flatMap(run => run.files), repeats: runs.length, facts: runs[0].facts },
    baseline: baseline
      ? {
          name: baseline.name,
          tool: baseline.tool,
          repeats: baseline.runs.length,
          facts: baseline.runs[0].facts,
        }
      : null,
    differences: differences.map(({ kind, run, baseline: theirs, allowed }) => ({
      kind,
      run,
      baseline: theirs,
      allowed,
    })),
    limits: limits.map(
      ({ limit, scope, verdict: own, measured, baseline: before, change, changeShare, noise }) => ({
        metric: limit.metric.id,
        phase: scope === undefined || scope === 'run' ? null : scope,
        unit: limit.metric.unit,
        better: limit.metric.better,
        kind: limit.kind,
        limit: limit.amount.value,
        limitIs: limit.amount.kind,
        written: limit.written,
        line: limit.line,
        severity: limit.severity,
        verdict: own,
        measured: finiteOrNull(measured),
        baseline: finiteOrNull(before),
        change: finiteOrNull(change),
        changeShare: finiteOrNull(changeShare),
        noiseFloor: finiteOrNull(noise?.floor),
        noiseFrom: noise?.source ?? null,
      }),
    ),
    remarks: result.remarks,
  };
}
