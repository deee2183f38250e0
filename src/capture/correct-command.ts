/** A command with one thing put right, ready to be run again. Options are nsys's own, so they go right behind `profile`. */

export interface Correctable {
  readonly command: readonly string[];
  readonly nsysAt: number;
  /** Where the profiled program stands, where that is known. */
  readonly programAt?: number;
  readonly env: Readonly<Record<string, string>>;
}

export interface Correction {
  /** Of nsys: name with its dashes, and the value. */
  readonly option?: readonly [name: string, value: string];
  /** Of the environment. */
  readonly variable?: readonly [name: string, value: string];
}

export function correct<Plan extends Correctable>(plan: Plan, corrections: readonly Correction[]): Plan {
  let { command, env } = plan as Correctable;
  for (const { option, variable } of corrections) {
    if (option && plan.nsysAt >= 0) command = withOption(command, plan.nsysAt, option);
    if (variable) env = { ...env, [variable[0]]: variable[1] };
  }
  const { programAt } = plan;
  const moved =
    programAt === undefined ? {} : { programAt: programAt + command.length - plan.command.length };
  return { ...plan, command, env, ...moved };
}

/** Only among nsys's own words: what the profiled program is given may look alike. */
function withOption(
  command: readonly string[],
  nsysAt: number,
  [name, value]: readonly [string, string],
): readonly string[] {
  const from = nsysAt + 2;
  const own = ownWords(command, nsysAt);
  const kept: string[] = [];
  for (let at = 0; at < own.length; at++) {
    const words = own[at].includes('=') || !expectsValue(own[at]) ? [own[at]] : own.slice(at, at + 2);
    at += words.length - 1;
    if (words[0] !== name && !words[0].startsWith(`${name}=`)) kept.push(...words);
  }
  return [...command.slice(0, from), `${name}=${value}`, ...kept, ...command.slice(from + own.length)];
}

/** Every option of `nsys profile` takes a value but these. */
const expectsValue = (word: string): boolean => !['-h', '--help', '-v', '--version'].includes(word);

/** Does nsys itself have it? The profiled program's words do not count. */
export const hasOption = ({ command, nsysAt }: Correctable, name: string): boolean =>
  nsysAt >= 0 && ownWords(command, nsysAt).some(word => word === name || word.startsWith(`${name}=`));

export function ownWords(command: readonly string[], nsysAt: number): readonly string[] {
  let at = nsysAt + 2;
  while (at < command.length && command[at].startsWith('-'))
    at += command[at].includes('=') || !expectsValue(command[at]) ? 1 : 2;
  return command.slice(nsysAt + 2, at);
}
