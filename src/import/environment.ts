/**
 * Counts the environment variables a file carries and how many look like secrets. Values are looked at here and
 * nowhere else, and none leaves this file but the range of iterations that was asked for and the process's rank in its
 * run: digits and dashes.
 */
import { namesSecret, SECRET_URL, SECRET_VALUE } from '../catalog/secret-shapes.js';

const RANGE_NAME = /^TLLM_(GPTM_)?PROFILE_START_STOP$/;
const RANGE_VALUE = /^\d{1,9}-\d{1,9}$/;
/** The one assignment whose value is told: which iterations were asked for. */
export const isRequestedRange = (assignment: string): boolean => {
  const [name, value, ...rest] = assignment.split('=');
  return rest.length === 0 && RANGE_NAME.test(name) && RANGE_VALUE.test(value ?? '');
};

/** What launchers tell a process: its rank, and how many there are. In order of preference. */
const LAUNCHERS: readonly (readonly [rank: string, worldSize: string])[] = [
  ['OMPI_COMM_WORLD_RANK', 'OMPI_COMM_WORLD_SIZE'],
  ['PMI_RANK', 'PMI_SIZE'],
  ['PMIX_RANK', 'PMIX_SIZE'],
  ['MV2_COMM_WORLD_RANK', 'MV2_COMM_WORLD_SIZE'],
  ['RANK', 'WORLD_SIZE'],
  ['SLURM_PROCID', 'SLURM_NTASKS'],
];
const LAUNCHER_NAMES = new Set(LAUNCHERS.flat());
const WHOLE_NUMBER = /^\d{1,6}$/;

export class EnvironmentCounter {
  private readonly names = new Set<string>();
  private readonly secrets = new Set<string>();
  /** Distinct values of launchers' variables: those of several processes contradict each other. */
  private readonly launched = new Map<string, Set<number>>();
  /** Value of TLLM_PROFILE_START_STOP, or of its older name. */
  requestedIterations: string | undefined;

  /** One `NAME=value`; anything else is ignored. */
  addAssignment(text: string): void {
    const match = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text);
    if (match) this.add(match[1], match[2]);
  }

  add(name: string, value: string): void {
    this.names.add(name);
    if (RANGE_NAME.test(name) && RANGE_VALUE.test(value)) this.requestedIterations = value;
    if (LAUNCHER_NAMES.has(name) && WHOLE_NUMBER.test(value))
      this.launched.set(name, (this.launched.get(name) ?? new Set()).add(Number(value)));
    const filled = value.replace(/^["']|["']$/g, '').length > 0;
    if (filled && (namesSecret(name) || SECRET_VALUE.test(value) || SECRET_URL.test(value)))
      this.secrets.add(name);
  }

  /** A value outside the environment (a command line, a metadata field) that looks like a key. */
  looksSecret(value: string): boolean {
    return SECRET_VALUE.test(value) || SECRET_URL.test(value);
  }

  /** The place in a distributed run, where one launcher states it and no other process of the file contradicts. */
  get place(): { rank: number; worldSize: number } | undefined {
    const only = (name: string) => {
      const [value, ...others] = this.launched.get(name) ?? [];
      return others.length === 0 ? value : undefined;
    };
    for (const [rankName, sizeName] of LAUNCHERS) {
      const [rank, worldSize] = [only(rankName), only(sizeName)];
      if (rank !== undefined && worldSize !== undefined && worldSize > 1 && rank < worldSize)
        return { rank, worldSize };
    }
    return undefined;
  }

  get counts(): { variables: number; looksSecret: number } {
    return { variables: this.names.size, looksSecret: this.secrets.size };
  }
}
