/** Words by which people call ranges of their own after a step, its phase, or a part of it. */
import type { Phase } from './phases.js';

/** Letters only, so that `decode_step` and `decodeStep` have the same words. */
const wordsOf = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replace(/[^A-Za-z]+/g, ' ')
    .toLowerCase();

const PREFILL = /\b(prefill|prefilling|context phase|prompt)\b/;
const DECODE = /\b(decode|decoding|generation phase|next token)\b/;
const STEP = /\b(step|steps|iteration|iter|token|tokens)\b/;
const FORWARD = /\b(forward|inference|infer|predict)\b/;
/** What a step holds, or what comes between steps. */
const BESIDE =
  /\b(sample|sampling|sampler|schedule|scheduler|scheduling|tokenize|detokenize|optimizer|backward|wait|sync|prepare|copy|load|embed|embedding|lookup)\b/;
/** What is counted there is a part of a step, or of a machine. */
const OF_A_PART = /layer|block|expert|head|rank|gpu|device|stage|shard|thread|worker|chunk|epoch/i;

export const isPartName = (name: string): boolean => OF_A_PART.test(name);

/** `decode`, `Prefill batch`, `engine step`: a whole step. */
export function namesStep(name: string): boolean {
  const words = wordsOf(name);
  return [PREFILL, DECODE, STEP].some(pattern => pattern.test(words)) && !BESIDE.test(words);
}

/** `model forward`: the pass through the model, around which a step may do more. */
export function namesForward(name: string): boolean {
  const words = wordsOf(name);
  return FORWARD.test(words) && !BESIDE.test(words);
}

/** The phase a range is called after; unknown where it names none, or both. */
export function phaseOfText(name: string): Phase {
  const words = wordsOf(name);
  const prefill = PREFILL.test(words);
  const decode = DECODE.test(words);
  return prefill === decode ? 'unknown' : prefill ? 'prefill' : 'decode';
}
