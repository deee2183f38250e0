/**
 * Prompts of common English words. Such a word with the space before it is one token in the vocabularies of all
 * well-known models, so words are about tokens; the true number is the server's to say. Prompts are cut from one long
 * text made in advance: making words while requests are under way would hold up their clocks.
 */

import { drawLength, type Lengths } from '../stats/lengths.js';
import { type Random, randomStream } from '../stats/random.js';
import type { Prompt, PromptSource } from './prompt.js';

/**
 * How prompts begin, which decides what a prefix cache can do. `unique`: with words that no request of this or any
 * other run begins with. `seeded`: unique in the run, the same in the next run with this seed. `shared`: that many
 * tokens are the same for all requests of the level, the rest is unique.
 */
export type Prefix =
  | { readonly kind: 'unique' }
  | { readonly kind: 'seeded' }
  | { readonly kind: 'shared'; readonly tokens: number };

interface SyntheticSettings {
  readonly input: Lengths;
  readonly output: Lengths;
  readonly seed: number;
  readonly prefix: Prefix;
  /** Different in every run. */
  readonly nonce: number;
}

const words =
  'the of and to in is it you that he was for on are with as his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know get through back much before go good new write our me man too any day same right look think also around another came come work three word must because does part even place well such here take why things help put years different away again off went old number great tell men say small every found still between name should home big give air line set own under read last never us left end along while might next sound below saw something thought both few those always show large often together asked house world going want school important until form food keep children feet land side without boy once animal life enough took four head above kind began almost live page got earth need far hand high year mother light country father let night picture being study second soon story since white ever paper hard near sentence better best across during today however sure knew it try told young sun thing whole hear example heard several change answer room sea against top turned learn point city play toward five himself usually money'.split(
    ' ',
  );

/** More than a block of any prefix cache would share by chance. */
const UNIQUE_WORDS = 24;
const POOL_WORDS = 1 << 16;

export class SyntheticPrompts implements PromptSource {
  readonly size = Infinity;
  readonly name = 'synthetic';
  private readonly pool: WordPool;

  constructor(private readonly settings: SyntheticSettings) {
    this.pool = new WordPool(randomStream(settings.seed, 'words'));
  }

  prompt(part: string, number: number): Prompt {
    const { input, output, seed, prefix, nonce } = this.settings;
    const lengths = randomStream(seed, 'lengths', part, number);
    const inputTokens = drawLength(input, lengths);
    const outputTokens = drawLength(output, lengths);
    const shared = prefix.kind === 'shared' ? Math.min(prefix.tokens, inputTokens) : 0;
    const unique = Math.min(UNIQUE_WORDS, inputTokens - shared);
    const random = longStream(seed, prefix.kind === 'seeded' ? 0 : nonce, part, number);
    const pieces = [
      shared > 0 ? this.pool.words(0, shared) : '',
      unique > 0 ? drawWords(unique, random) : '',
      this.pool.words(Math.floor(random() * POOL_WORDS), inputTokens - shared - unique),
    ];
    return { content: pieces.filter(piece => piece !== '').join(' '), inputTokens, outputTokens };
  }
}

/** A stream has 2^32 begins, and among some thousand requests two would meet; two streams together have enough. */
function longStream(...purpose: readonly [number, number, string, number]): Random {
  const first = randomStream(purpose[0], 'begin', ...purpose);
  const second = randomStream(purpose[0], 'begin again', ...purpose);
  return () => (first() + second()) % 1;
}

const drawWord = (random: Random) => words[Math.floor(random() * words.length)];
const drawWords = (count: number, random: Random) =>
  Array.from({ length: count }, () => drawWord(random)).join(' ');

/** A long text with the places of its words, read in a circle. */
class WordPool {
  private readonly text: string;
  /** Where each word begins, and the end of the text. */
  private readonly starts = new Uint32Array(POOL_WORDS + 1);

  constructor(random: Random) {
    const drawn: string[] = [];
    let at = 0;
    for (let i = 0; i < POOL_WORDS; i++) {
      const word = drawWord(random);
      drawn.push(word);
      this.starts[i] = at;
      at += word.length + 1;
    }
    this.starts[POOL_WORDS] = at;
    this.text = `${drawn.join(' ')} `;
  }

  words(from: number, count: number): string {
    let result = '';
    while (count > 0) {
      const to = Math.min(POOL_WORDS, from + count);
      result += this.text.slice(this.starts[from], this.starts[to]);
      count -= to - from;
      from = to % POOL_WORDS;
    }
    return result.trimEnd();
  }
}
