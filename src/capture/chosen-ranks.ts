// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the shell of a rank that expands them.
/**
 * Only some ranks under nsys. All of them are started by one launcher with one command, so each rank decides where it
 * starts: a shell between launcher and nsys passes over the words of nsys on ranks that were not asked for.
 *
 *   srun … sh -c 'case ,0,8, in *,"$SLURM_PROCID",*) … esac; exec "$@"' PROGRAM nsys profile … PROGRAM …
 */
import type { Span } from '../base/spans.js';
import { UserError } from '../base/user-error.js';
import type { PlanReason } from './capture-plan.js';
import type { Launch } from './launchers.js';

const MOST_RANKS = 10_000;

interface ChosenRanks {
  /** Between launcher and nsys; empty where all ranks are recorded. */
  readonly words: readonly string[];
  readonly why: readonly PlanReason[];
  /** Ranks that write a report; undefined: all of them. */
  readonly count?: number;
}

export function chosenRanks(asked: readonly Span[] | undefined, launch: Launch): ChosenRanks {
  if (!asked) return { words: [], why: [] };
  if (launch.rankVariable === undefined)
    throw new UserError(
      'usage',
      '--only-ranks needs a launcher in front of the program: srun, mpirun or torchrun.',
      'For example: stepscope capture --only-ranks 0,8 -- srun -n 16 PROGRAM',
    );
  const total = asked.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const most = Math.max(...asked.map(({ last }) => last));
  if (total > MOST_RANKS || (launch.ranks !== undefined && most >= launch.ranks))
    throw new UserError(
      'usage',
      `Rank ${most} does not exist: the launcher starts ${launch.ranks ?? `at most ${MOST_RANKS}`} ranks, counted from 0.`,
      'Give ranks that exist, for example: --only-ranks 0',
    );
  const ranks = asked.flatMap(({ first, last }) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i),
  );
  const unique = [...new Set(ranks)].sort((a, b) => a - b);
  const script = `case ,${unique.join(',')}, in *,"$${launch.rankVariable}",*) ;; *) until [ "$1" = "$0" ]; do shift; done ;; esac; exec "$@"`;
  return {
    words: ['sh', '-c', script, launch.program[0]],
    why: [{ what: `sh -c 'case ,${unique.join(',')}, …'`, why: 'only these ranks run under nsys' }],
    count: unique.length,
  };
}
