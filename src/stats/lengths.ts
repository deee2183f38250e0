/** How long prompts and answers are: `512`, `normal:512:64` (mean, deviation), `uniform:256-1024` (both included). */
import { UserError } from '../base/user-error.js';
import { type Random, standardNormal } from './random.js';

export type Lengths =
  | { readonly kind: 'fixed'; readonly tokens: number }
  | { readonly kind: 'normal'; readonly mean: number; readonly deviation: number }
  | { readonly kind: 'uniform'; readonly least: number; readonly most: number };

/** Longer than any context there is; a prompt of this length is some megabytes. */
export const MOST_TOKENS = 2_000_000;

export function readLengths(option: string, text: string): Lengths {
  const number = '(\\d{1,9}(?:\\.\\d{1,9})?)';
  const normal = new RegExp(`^normal:${number}:${number}$`).exec(text);
  const uniform = /^uniform:(\d{1,9})-(\d{1,9})$/.exec(text);
  const isLength = (tokens: number) => tokens >= 1 && tokens <= MOST_TOKENS;
  if (/^\d{1,9}$/.test(text) && isLength(Number(text))) return { kind: 'fixed', tokens: Number(text) };
  if (normal && isLength(Number(normal[1])))
    return { kind: 'normal', mean: Number(normal[1]), deviation: Number(normal[2]) };
  if (uniform) {
    const [least, most] = [Number(uniform[1]), Number(uniform[2])];
    if (isLength(least) && isLength(most) && least <= most) return { kind: 'uniform', least, most };
  }
  throw new UserError(
    'usage',
    `${JSON.stringify(text)} is not a valid length for ${option}.`,
    `For example: ${option} 512, ${option} normal:512:64 or ${option} uniform:256-1024`,
  );
}

/** `uniform:16:64` and `normal:512`, as datasets were asked for in the last version. */
export function renewedLengths(text: string): string | undefined {
  const uniform = /^uniform:(\d+):(\d+)$/.exec(text);
  if (uniform) return `uniform:${uniform[1]}-${uniform[2]}`;
  const fixed = /^normal:(\d+)$/.exec(text);
  return fixed ? fixed[1] : undefined;
}

export function lengthsText(lengths: Lengths): string {
  if (lengths.kind === 'fixed') return String(lengths.tokens);
  return lengths.kind === 'normal'
    ? `normal:${lengths.mean}:${lengths.deviation}`
    : `uniform:${lengths.least}-${lengths.most}`;
}

/** `round`: what becomes of a normal draw: trtllm-bench rounds up. */
export function drawLength(
  lengths: Lengths,
  random: Random,
  round: (tokens: number) => number = Math.round,
): number {
  if (lengths.kind === 'fixed') return lengths.tokens;
  if (lengths.kind === 'uniform')
    return lengths.least + Math.floor(random() * (lengths.most - lengths.least + 1));
  const drawn = round(lengths.mean + lengths.deviation * standardNormal(random));
  return Math.min(MOST_TOKENS, Math.max(1, drawn));
}
