// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is bash that expands them.
/** The end of a script that maps its reports into a lake: in a Slurm job as a job of its own, which waits for this one. */
import { shellQuote } from './shell-quote.js';

export const mapLines = (lake: string): string[] => [
  '',
  '# The profiles into a lake. In a Slurm job this is another job, so that no GPU waits for it.',
  'map=(stepscope fleet map)',
  'for report in "${reports[@]}"; do map+=("${report%.nsys-rep}.sqlite"); done',
  `map+=(--out ${shellQuote(lake)})`,
  'if [[ -n ${SLURM_JOB_ID:-} ]] && command -v sbatch >/dev/null; then',
  '  sbatch --dependency="afterany:$SLURM_JOB_ID" --job-name=stepscope-fleet-map --wrap "$(printf \'%q \' "${map[@]}")"',
  'elif command -v stepscope >/dev/null; then',
  '  "${map[@]}"',
  'else',
  '  echo "stepscope was not found here. Where it is installed, run: ${map[*]}" >&2',
  'fi',
];
