/** The report of a lake as a document, in base units. Its schema is docs/schemas/fleet-report.schema.json. */
import type { Static } from '../base/document.js';
import type { FleetReport, LevelChange, RunSummary } from './fleet-report.js';
import type { fleetReportSchema } from './fleet-schema.js';

export function reportDocument(report: FleetReport, tool: string): Static<typeof fleetReportSchema> {
  const { data } = report;
  return {
    schema: 'stepscope-fleet-report/1',
    tool,
    lake: data.folder,
    files: data.files.counted.length,
    leftOut: data.files.leftOut,
    problems: report.problems,
    broken: data.broken.map(({ path, code, message, hint }) => ({ path, code, message, hint })),
    runs: report.runs.map(runOf),
    ranks: report.ranks,
    nodes: report.nodes,
    configurations: report.configurations,
    changes: report.histories.flatMap(({ changes }) => changes.map(changeOf)),
    histories: report.histories.map(({ configuration, phase, runs, tooFew, untimed }) => ({
      ...{ configuration, phase, runs: runs.map(({ run }) => run), tooFew, untimed },
    })),
    findings: report.findings,
  };
}

const runOf = (run: RunSummary) => ({
  ...run,
  startUtc: run.startUtcNs === null ? null : new Date(run.startUtcNs / 1e6).toISOString(),
});

function changeOf({
  configuration,
  phase,
  lastBefore,
  firstAfter,
  before,
  after,
  point,
  terms,
  load,
}: LevelChange) {
  return {
    ...{ configuration, phase, lastBefore, firstAfter, before, after },
    ...{ fromNs: point.from, toNs: point.to, changeShare: point.changeShare, p: point.p },
    ...{ meanBeforeNs: terms.fromNs, meanAfterNs: terms.toNs },
    terms: terms.terms.map(({ look, fromNs, toNs }) => ({
      ...{ part: look.id, label: look.label, fromNs, toNs, changeNs: toNs - fromNs },
    })),
    kernels: terms.kernels,
    load,
  };
}
