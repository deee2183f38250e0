/** Kinds of values, each spelled in one way by every command: counts, shares, times, spans of steps, lengths, names. */
import * as fs from 'node:fs';
import type { Json } from '../analyze/analysis.js';
import { readSpans, type Span } from '../base/spans.js';
import { UserError } from '../base/user-error.js';
import { findGpu, gpuPeaks } from '../catalog/gpus.js';
import { findModel, modelPresets } from '../catalog/models.js';
import { type Lengths, readLengths, renewedLengths } from '../stats/lengths.js';
import { notThat, type ValueKind } from './option.js';

export const anyText: ValueKind<string> = { read: given => given };

/** `a,b,c`; empty parts are passed over. */
export const names: ValueKind<readonly string[]> = {
  read: given =>
    given
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== ''),
};

export function whole(least = 1, most = 1e7): ValueKind<number> {
  return {
    read(given, flag) {
      const number = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
      if (number >= least && number <= most) return number;
      throw notThat(given, `number for ${flag}`, `Give a whole number from ${least} to ${most}.`);
    },
  };
}

/** `64`, or `8:64` where today's number must be given too. */
export const batch: ValueKind<{ readonly now?: number; readonly requests: number }> = {
  read(given, flag) {
    const match = /^(?:([1-9]\d{0,5}):)?([1-9]\d{0,5})$/.exec(given);
    if (!match) throw notThat(given, 'number of requests', `For example: ${flag} 64, or ${flag} 8:64`);
    return { ...(match[1] ? { now: Number(match[1]) } : {}), requests: Number(match[2]) };
  },
};

/** A size in millions or billions of bytes, given without its unit: the option's name for values has it. */
export function sizeIn(unit: 'MB' | 'GB', most: number): ValueKind<number> {
  const bytes = unit === 'MB' ? 1e6 : 1e9;
  return {
    read(given, flag) {
      const number = Number(given);
      if (number > 0 && number <= most) return number * bytes;
      throw notThat(given, `size in ${unit}`, `For example: ${flag} 2.5`);
    },
  };
}

/** `20000`, `20k`, `2M`: of an answer. */
export const bytes: ValueKind<number> = {
  read(given, flag) {
    const match = /^(\d{1,9})(k|M)?B?$/i.exec(given);
    const number = match ? Number(match[1]) * ({ k: 1e3, m: 1e6 }[match[2]?.toLowerCase() ?? ''] ?? 1) : 0;
    if (number >= 200 && number <= 1e9) return number;
    throw notThat(given, 'number of bytes', `For example: ${flag} 20k (at least 200, at most 1000M)`);
  },
};

/** `2%`. `bare`: what a number alone meant to this option in the last version. */
export function percentage(bare: 'percent' | 'share', least = 0): ValueKind<number> {
  return {
    read(given, flag) {
      const match = /^(\d+(?:\.\d+)?)%$/.exec(given.trim());
      const share = match ? Number(match[1]) / 100 : Number.NaN;
      if (share >= least && share <= 1) return share;
      throw notThat(given, 'percentage', `For example: ${flag} 5%`);
    },
    renewed(given) {
      const number = /^\d*\.?\d+$/.test(given.trim()) ? Number(given) : Number.NaN;
      if (bare === 'share') return number <= 1 ? `${Number((number * 100).toPrecision(12))}%` : undefined;
      return number <= 100 ? `${number}%` : undefined;
    },
  };
}

/** Node's timers end at 24 days; nobody waits longer for an answer. */
const MOST_SECONDS = 7 * 24 * 3600;

/** `60s`, `500ms`, `2min`; bare numbers are seconds. In nanoseconds. */
export const duration: ValueKind<number> = {
  read(given, flag) {
    const match = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|h)?$/.exec(given);
    const unit = { ms: 0.001, s: 1, min: 60, h: 3600 }[match?.[2] ?? 's']!;
    const seconds = match ? Number(match[1]) * unit : Number.NaN;
    if (seconds > 0 && seconds <= MOST_SECONDS) return seconds * 1e9;
    throw notThat(given, `time for ${flag}`, `For example: ${flag} 60s, ${flag} 500ms or ${flag} 2min`);
  },
};

/** `3,10-20`: both ends belong to a span. */
export const spans: ValueKind<readonly Span[]> = {
  read(given, flag) {
    const found = readSpans(given);
    if (found) return found;
    const hint = `Write ${flag} A-B with A ≤ B, for example ${flag} 100-150`;
    throw notThat(given, 'range of iterations', hint);
  },
};

const UNIT_NS: Readonly<Record<string, number>> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

/** `0.8s-1.5s`, `800ms-`, `-2ms-3ms`; bare numbers are nanoseconds. Times are those the reports print. */
export const timeWindow: ValueKind<{ fromNs: number; toNs: number }> = {
  read(given, flag) {
    const time = '(-?\\d+(?:\\.\\d+)?)(ns|us|µs|ms|s)?';
    const match = new RegExp(`^(?:${time})?\\s*[-/]\\s*(?:${time})?$`).exec(given.trim());
    const bound = (number: string | undefined, unit: string | undefined, missing: number) =>
      number === undefined ? missing : Number(number) * UNIT_NS[unit ?? 'ns'];
    const fromNs = match ? bound(match[1], match[2], -Infinity) : Number.NaN;
    const toNs = match ? bound(match[3], match[4], Infinity) : Number.NaN;
    if (fromNs < toNs) return { fromNs, toNs };
    throw new UserError(
      'usage',
      `${JSON.stringify(given)} is not a time range.`,
      `Write START-END, for example ${flag} 1.2s-1.5s (units ns, us, ms, s; bare numbers are ns).`,
    );
  },
};

export const lengths: ValueKind<Lengths> = {
  read: (given, flag) => readLengths(flag, given),
  renewed: renewedLengths,
};

export function oneOf<const Choice extends string>(choices: readonly Choice[]): ValueKind<Choice> {
  return {
    choices,
    read(given, flag) {
      const known = choices.find(choice => choice === given);
      if (known !== undefined) return known;
      throw new UserError(
        'usage',
        `${JSON.stringify(given)} is not a value of ${flag}.`,
        `Use one of: ${choices.join(', ')}`,
      );
    },
  };
}

export const pattern: ValueKind<RegExp> = {
  read(given, flag) {
    try {
      return new RegExp(given);
    } catch (error) {
      const reason = (error as Error).message.replace(/^Invalid regular expression: /, '');
      throw new UserError(
        'usage',
        `${flag} is not a regular expression: ${reason}.`,
        `For example: ${flag} '^step (?<iteration>\\d+) (?<phase>prefill|decode)'`,
      );
    }
  },
};

const MOST_JSON_BYTES = 4e6;

/** A small file of JSON, read and understood. */
export function jsonFile<Value>(understand: (json: unknown) => Value): ValueKind<Value> {
  return {
    read(file, flag) {
      let json: unknown;
      try {
        const stat = fs.statSync(file);
        if (!stat.isFile()) throw new Error('it is not a file');
        if (stat.size > MOST_JSON_BYTES) throw new Error('it is too large');
        json = JSON.parse(fs.readFileSync(file, 'utf8'));
      } catch (error) {
        throw new UserError(
          'usage',
          `${file} cannot be read as JSON: ${(error as Error).message}`,
          `Check the file given with ${flag}.`,
        );
      }
      return understand(json);
    },
  };
}

/** A file in Hugging Face's form, or the name of a preset. */
export const model: ValueKind<Json> = {
  read(given, flag) {
    const preset = findModel(given);
    if (preset && !fs.existsSync(given)) return preset.config as Json;
    if (fs.existsSync(given)) return jsonFile(json => json as Json).read(given, flag);
    throw new UserError(
      'usage',
      `${JSON.stringify(given)} is neither a file nor a model preset.`,
      `Give the model's config.json, or one of: ${modelPresets.map(known => known.id).join(', ')}`,
    );
  },
};

/** A GPU whose limits are known, as files print it or without the maker’s name. */
export const gpuName: ValueKind<string> = {
  read(given) {
    const name = [given, `NVIDIA ${given}`, `AMD Instinct ${given}`].find(printed => findGpu(printed));
    if (name !== undefined) return name;
    throw new UserError(
      'usage',
      `The limits of GPU ${JSON.stringify(given)} are not known.`,
      `Known GPUs: ${gpuPeaks.map(peak => peak.name).join(', ')}`,
    );
  },
};
