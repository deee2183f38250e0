// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is bash that expands them.
/**
 * A plan as a bash script that needs nothing but nsys: for machines without Stepscope. Words stand in arrays, each
 * quoted by itself, so no argument is read twice.
 */
import { AGENT_QUESTION } from './agent-question.js';
import type { CapturePlan } from './capture-plan.js';
import { isPython } from './launchers.js';
import { mapLines } from './map-script.js';
import { stepText } from './plan-text.js';
import { shellAssignment, shellQuote } from './shell-quote.js';

interface ScriptOptions {
  readonly force: boolean;
  /** The version of our agent, where the machine that runs the script may have one installed. */
  readonly agentVersion?: string;
  /** The lake to map the reports into. */
  readonly lake?: string;
}

export function planScript(plan: CapturePlan, { force, agentVersion, lake }: ScriptOptions): string {
  const nsys = plan.nsysAt < 0 ? undefined : plan.command[plan.nsysAt];
  const reports = plan.outputs
    .filter(({ kind }) => kind === 'nsys-report')
    .map(({ pattern }) => globOf(pattern));
  const streams = plan.outputs
    .filter(({ kind }) => kind === 'nsys-report')
    .map(({ pattern }) => globOf(pattern.replace(/nsys-rep$/, 'qdstrm')));
  const lines = [
    '#!/usr/bin/env bash',
    `# A capture of ${plan.engine}, planned by stepscope capture.`,
    ...plan.why.map(({ what, why }) => `#   ${oneLine(what)}: ${why}`),
    ...plan.warnings
      .filter(warning => !isDecidedHere(plan, warning))
      .map(({ severity, text, fix }) => `# ${severity}: ${oneLine(text)} ${oneLine(fix)}`),
    'set -euo pipefail',
    'shopt -s nullglob',
    '',
  ];
  if (nsys !== undefined)
    lines.push(
      `nsys=${shellQuote(nsys)}`,
      'if ! command -v "$nsys" >/dev/null; then',
      '  echo "nsys was not found: install Nsight Systems, or add it to PATH." >&2',
      '  exit 127',
      'fi',
      '# The existing reports.',
      'look() {',
      '  local file',
      '  reports=()',
      `  for file in ${reports.join(' ')}; do`,
      '    if [[ -e $file ]]; then reports+=("$file"); fi',
      '  done',
      '}',
    );
  if (nsys !== undefined && !force)
    lines.push(
      'look',
      'if (( ${#reports[@]} > 0 )); then',
      '  echo "${reports[0]} already exists: move it, or plan with --force." >&2',
      '  exit 1',
      'fi',
    );
  lines.push(
    '',
    ...Object.entries(plan.env).flatMap(([name, value]) =>
      name === 'PYTHONPATH'
        ? pathLines(plan, value, agentVersion)
        : [`export ${shellAssignment(name, value)}`],
    ),
    ...(plan.optionalEnv ?? []).flatMap(optional => optionalLines(plan, optional)),
    ...(plan.files ?? []).map(
      ({ path, text }) => `printf '%s' ${shellQuote(text)} > ${shellQuote(path)}  # read by the engine`,
    ),
    'command=(',
    ...plan.command.map(word => `  ${shellQuote(word)}`),
    ')',
    '',
  );
  if (plan.server)
    lines.push(
      "cat >&2 <<'STEPS'",
      ...plan.steps.map((step, i) => `${i + 1}. ${oneLine(stepText(step, plan))}`),
      'STEPS',
      '# Ctrl-C stops the server; the remaining steps still run.',
      "trap ':' INT",
    );
  lines.push('status=0', '"${command[@]}" || status=$?');
  lines.push(
    ...(nsys === undefined ? [] : exportLines(streams, force)),
    ...goodLines(plan.exitCodes),
    ...(plan.calibration ? calibrationLines(plan.env, plan.calibration) : []),
    ...(lake === undefined || nsys === undefined ? [] : mapLines(lake)),
    'exit "$status"',
  );
  return `${lines.join('\n')}\n`;
}

const pythonIn = ({ command, programAt }: CapturePlan): string => {
  const program = command[programAt] ?? '';
  return shellQuote(isPython(program) ? program : 'python3');
};

/** What the plan could not check, the script does. */
const isDecidedHere = ({ optionalEnv }: CapturePlan, { code }: CapturePlan['warnings'][number]): boolean =>
  optionalEnv?.some(({ module }) => code === `no-${module}`) ?? false;

function optionalLines(
  plan: CapturePlan,
  { name, value, module }: NonNullable<CapturePlan['optionalEnv']>[number],
): string[] {
  return [
    `# The engine does not start with this if the Python package ${module} is missing.`,
    `if ${pythonIn(plan)} -c ${shellQuote(`import ${module}`)} 2>/dev/null; then`,
    `  export ${shellAssignment(name, value)}`,
    'fi',
  ];
}

/** The folder of the agent; what is on the path already stays on it. */
function pathLines(plan: CapturePlan, folder: string, version: string | undefined): string[] {
  const bring = `export PYTHONPATH=${shellQuote(folder)}"\${PYTHONPATH:+:$PYTHONPATH}"`;
  if (version === undefined) return [bring];
  return [
    '# The agent: the installed one if its version matches, otherwise the one in the folder.',
    `agent=$(${pythonIn(plan)} -c ${shellQuote(AGENT_QUESTION)} 2>/dev/null || true)`,
    `if [[ $agent == ${shellQuote(version)} ]]; then`,
    '  export PYTHONPATH="${PYTHONPATH:-}"  # mpirun passes only variables that are set',
    `elif [[ -e ${shellQuote(`${folder}/sitecustomize.py`)} ]]; then`,
    `  ${bring}`,
    'else',
    `  echo ${shellQuote(`The agent is not installed: pip install stepscope-agent==${version}`)} >&2`,
    '  exit 127',
    'fi',
  ];
}

function exportLines(streams: readonly string[], force: boolean): string[] {
  return [
    '',
    'look',
    'if (( ${#reports[@]} == 0 )); then',
    `  raw=(${streams.join(' ')})`,
    '  for file in "${raw[@]}"; do',
    '    if [[ -e $file ]]; then',
    '      # The importer lies next to nsys, or where Debian puts it; it accepts only streams of its own version.',
    '      for importer in "$(dirname "$(readlink -f "$(command -v "$nsys")")")"/../host-*/QdstrmImporter /usr/lib/nsight-systems/host-*/QdstrmImporter; do',
    '        "$importer" -i "$file" -o "${file%.qdstrm}.nsys-rep" >&2 && break',
    '      done',
    '      if [[ ! -e ${file%.qdstrm}.nsys-rep ]]; then',
    '        echo "nsys did not convert $file because its importer is missing: install the complete Nsight Systems and run QdstrmImporter on it." >&2',
    '        exit 1',
    '      fi',
    '    fi',
    '  done',
    '  look',
    'fi',
    'if (( ${#reports[@]} == 0 )); then',
    '  # nsys prints no message if the range never opened.',
    '  echo "No report was written: the capture range never opened, or the program ended first." >&2',
    '  exit 1',
    'fi',
    'for report in "${reports[@]}"; do',
    `  "$nsys" export --type sqlite${force ? ' --force-overwrite true' : ''} -o "\${report%.nsys-rep}.sqlite" "$report"`,
    '  echo "wrote $report and ${report%.nsys-rep}.sqlite" >&2',
    'done',
  ];
}

const goodLines = (good: readonly number[]): string[] =>
  good
    .filter(code => code !== 0)
    .map(code => `if (( status == ${code} )); then status=0; fi  # nsys stopped the program`);

/** In a subshell: what the capture was given must not reach the second run. The path of the agent stays as it is. */
function calibrationLines(
  captured: CapturePlan['env'],
  { command, env, outputs }: NonNullable<CapturePlan['calibration']>,
): string[] {
  const gone = Object.keys(captured).filter(name => !(name in env));
  return [
    '',
    '# The same steps again, without a profiler: what they take undisturbed.',
    'calibration=(',
    ...command.map(word => `  ${shellQuote(word)}`),
    ')',
    'if (( status == 0 )); then',
    '  (',
    ...(gone.length > 0 ? [`    unset ${gone.join(' ')}`] : []),
    ...Object.entries(env)
      .filter(([name]) => name !== 'PYTHONPATH')
      .map(([name, value]) => `    export ${shellAssignment(name, value)}`),
    '    "${calibration[@]}"',
    `  ) || echo "The second run failed; the capture is complete without it." >&2`,
    ...outputs.map(({ pattern }) => `  echo ${shellQuote(`Open ${pattern} together with the capture.`)} >&2`),
    'fi',
  ];
}

/** What nsys fills in becomes a star; everything else stays as it is. */
export function globOf(pattern: string): string {
  return pattern
    .split(/(%q\{[^}]*\}|%[hpn]|\*)/)
    .map((piece, i) => (i % 2 ? '*' : piece === '' ? '' : shellQuote(piece.replaceAll('%%', '%'))))
    .join('');
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ');
