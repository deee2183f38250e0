/** A plan for people: the command to paste, why each part is there, what to do beside it, what to watch for. */
import { formatBytes } from '../base/units.js';
import type { CapturePlan, PlanCalibration, PlanStep } from './capture-plan.js';
import { shellAssignment, shellCommand, shellQuote } from './shell-quote.js';

/** One command over several lines; nothing between them but what the shell should read. */
export function commandText(plan: Pick<CapturePlan, 'command' | 'nsysAt' | 'programAt' | 'env'>): string {
  const { command, nsysAt, programAt, env } = plan;
  const lines = Object.entries(env).map(([name, value]) => shellAssignment(name, value));
  // A word that looks like an assignment would be one in the first place of the command.
  const program = shellCommand(command.slice(programAt));
  if (nsysAt < 0) lines.push(shellCommand(command));
  else {
    const words = command.slice(nsysAt, programAt);
    const begin = [...command.slice(0, nsysAt), ...words.slice(0, 2)];
    lines.push(shellCommand(begin), ...byOption(words.slice(2)).map(line => `  ${line}`), `  ${program}`);
  }
  return lines.join(' \\\n');
}

const calibrationText = ({ command, env }: PlanCalibration): string =>
  commandText({ command, env, nsysAt: -1, programAt: 0 });

/** An option and its value stay on one line. */
function byOption(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    if (word.startsWith('-') || lines.length === 0) lines.push(shellQuote(word));
    else lines[lines.length - 1] += ` ${shellQuote(word)}`;
  }
  return lines;
}

export function stepText(step: PlanStep, plan: CapturePlan): string {
  switch (step.do) {
    case 'start':
      return plan.server ? 'run the command above; it serves until stopped' : 'run the command above';
    case 'wait-http':
      return `wait until it answers: curl -sf ${shellQuote(step.url)}`;
    case 'http': {
      const body = step.body
        ? ` -H 'Content-Type: application/json' -d ${shellQuote(JSON.stringify(step.body))}`
        : '';
      return `curl -X ${step.method} ${shellQuote(step.url)}${body}   # ${step.why}`;
    }
    case 'load':
      return `send requests ${step.why}`;
    case 'wait-reports':
      return `wait for ${plan.outputs.map(({ pattern }) => pattern).join(' and ')}: ${step.why}`;
    case 'wait-exit':
      return plan.exitCodes.includes(143) ? 'nsys stops it (exit status 143)' : 'it ends on its own';
    case 'stop':
      return `stop it with Ctrl-C: ${step.why}`;
  }
}

export function planText(plan: CapturePlan): string {
  const attached = plan.command.length === 0;
  const sections = attached
    ? [attachedText(plan)]
    : [`${plan.far ? `In ${plan.far.where}:\n` : ''}${commandText(plan)}`, whyText(plan)];
  if (plan.server)
    sections.push(
      `${attached ? 'Steps' : 'Then'}\n${plan.steps.map((step, i) => `  ${i + 1}. ${stepText(step, plan)}`).join('\n')}`,
    );
  if (plan.calibration)
    sections.push(
      `Then the same steps without a profiler\n  ${calibrationText(plan.calibration).replaceAll('\n', '\n  ')}`,
    );
  const results = [...plan.outputs, ...(plan.calibration?.outputs ?? [])].map(
    ({ pattern, count, note }) =>
      `  ${pattern}${count !== undefined && count > 1 ? ` (${count} files)` : ''}${note ? `: ${note}` : ''}`,
  );
  if (plan.far)
    results.push(
      `  copied to ${plan.far.copiedTo}, with the endings of what was written`,
      ...(attached ? [] : [`  nsys: ${plan.far.nsys}`]),
    );
  if (plan.storedIn !== undefined) results.push(`  also put into ${plan.storedIn}`);
  for (const { path, text } of plan.files ?? [])
    results.unshift(`  ${path}, before it starts: ${text.trim().replaceAll('\n', ', ')}`);
  sections.push(
    `Writes\n${results.join('\n') || (attached ? '  traces in the folder that the server was started with' : '  nothing')}`,
  );
  if (plan.warnings.length > 0) sections.push(warningsText(plan));
  if (plan.profiler === 'nsys') sections.push(estimateText(plan));
  return `${sections.join('\n\n')}\n`;
}

const attachedText = ({ far }: CapturePlan): string =>
  far
    ? `Nothing is started. The processes in ${far.where} show the engine and its port. The server is profiled through its endpoints, or by the agent if it is loaded; otherwise the reason is given.`
    : 'Nothing is started: a running server is profiled through its endpoints.';

/** Only what is wrong with a command, and the command to run instead. */
export function explainText(plan: CapturePlan): string {
  const found = plan.warnings.length > 0 ? warningsText(plan, 'Found') : 'Found\n  nothing to correct';
  return `${found}\n\nCorrected\n  ${commandText(plan).replaceAll('\n', '\n  ')}\n`;
}

function whyText({ why }: CapturePlan): string {
  const width = Math.min(44, Math.max(...why.map(({ what }) => what.length)));
  const lines = why.map(({ what, why: reason }) =>
    what.length > width
      ? `  ${what}\n  ${' '.repeat(width)}  ${reason}`
      : `  ${what.padEnd(width)}  ${reason}`,
  );
  return `Why\n${lines.join('\n')}`;
}

function warningsText({ warnings }: CapturePlan, title = 'Before you run it'): string {
  const lines = warnings.map(
    ({ severity, code, text, fix }) => `  ${severity}: ${text} (${code})\n    → ${fix}`,
  );
  return `${title}\n${lines.join('\n')}`;
}

function estimateText({ estimate }: CapturePlan): string {
  const { reportBytes, sqliteBytes, temporaryBytes, overheadShare, how } = estimate;
  return [
    'Estimate',
    `  report ${formatBytes(reportBytes)}, SQLite export ${formatBytes(sqliteBytes)}, up to ${formatBytes(temporaryBytes)} more while nsys writes`,
    `  steps up to ${Math.round(overheadShare * 100)}% slower`,
    ...how.map(line => `  · ${line}`),
  ].join('\n');
}
