/** How long prompts and answers are: `512`, `normal:512:64` (mean, deviation), `uniform:256-1024` (both included). */
import { UserError } from '../base/user-error.js';
import { type Random, standardNormal } from '../stats/random.js';

export type Lengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number }
  | { readonly kind: 'uniform'; readonly least: number; readonly most: number };

/** Longer than any context there is; a prompt of this length is some megabytes. */
export const MOST_TOKENS = 2_000_000;

export function readLengths(option: string, text: string): Lengths {
  const fixed = /^\d{1,9}$/.exec(text);
  const normal = /^normal:(\d{1,9}(?:\.\d{1,9})?):(\d{1,9}(?:\.\d{1,9})?)$/.exec(text);
  const uniform = /^uniform:(\d{1,9})-(\d{1,9})$/.exec(text);
  const lengths: Lengths | undefined = fixed
    ? { kind: 'fixed', tokens: Number(text) }
    : normal
      ? { kind: 'normal', mean: Number(normal[1]), deviation: Number(normal[2]) }
      : uniform
        ? { kind: 'uniform', least: Number(uniform[1]), most: Number(uniform[2]) }
        : undefined;
  const isSound =
    lengths?.kind === 'uniform'
      ? lengths.least >= 1 && lengths.least <= lengths.most && lengths.most <= MOST_TOKENS
      : lengths?.kind === 'normal'
        ? lengths.mean >= 1 && lengths.mean <= MOST_TOKENS
        : lengths !== undefined && lengths.tokens >= 1 && lengths.tokens <= MOST_TOKENS;
  if (lengths && isSound) return lengths;
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is no length for ${option}.`,
    `For example: ${option} 512, ${option} normal:512:64 or ${option} uniform:256-1024`,
  );
}

export function drawLength(lengths: Lengths, random: Random): number {
  if (lengths.kind === 'fixed') return lengths.tokens;
  if (lengths.kind === 'uniform')
    return lengths.least + Math.floor(random() * (lengths.most - lengths.least + 1));
  const drawn = Math.round(lengths.mean + lengths.deviation * standardNormal(random));
  return Math.min(MOST_TOKENS, Math.max(1, drawn));
}

export function lengthsText(lengths: Lengths): string {
  if (lengths.kind === 'fixed') return String(lengths.tokens);
  return lengths.kind === 'normal'
    ? `normal:${lengths.mean}:${lengths.deviation}`
    : `uniform:${lengths.least}-${lengths.most}`;
}
