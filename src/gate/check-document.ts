/** The result of a check as one JSON document, in base units. Its schema is docs/schemas/check.schema.json. */
import { type CheckResult, exitCodeOf } from './check.js';

export const CHECK_SCHEMA = 'stepscope-check/1';

export function checkDocument(result: CheckResult, tool: string, policyFile: string) {
  const orNull = (value: number | undefined) =>
    value === undefined || !Number.isFinite(value) ? null : value;
  const { verdict, runs, baseline, differences, limits } = result;
  return {
    schema: CHECK_SCHEMA,
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
        measured: orNull(measured),
        baseline: orNull(before),
        change: orNull(change),
        changeShare: orNull(changeShare),
        noiseFloor: orNull(noise?.floor),
        noiseFrom: noise?.source ?? null,
      }),
    ),
    remarks: result.remarks,
  };
}
