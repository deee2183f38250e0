/** Rounds of damage over every committed capture: the share in the test suite, and `npm run fuzz` for hours. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { captureNames, capturesFolder, readText } from '../../src/testing/captures.js';
import { type IntactExport, intactExport, tryExport } from './export-damage.js';
import { seeded } from './mutations.js';
import { checkOutput } from './output-damage.js';
import { Scratch } from './property.js';
import { shortenedTrace } from './shortened.js';
import { type Intact, intactTrace, tryTrace } from './trace-damage.js';

/** Events of each kind that are kept of a trace. */
const PER_KIND = 12;
const ROUNDS_PER_COMMAND = 4;

export type FormatName = 'trace' | 'export';

export interface Broken {
  readonly format: FormatName;
  readonly capture: string;
  readonly seed: number;
  readonly why: string;
}

export interface Tried {
  readonly rounds: number;
  readonly opened: number;
  readonly broken: readonly Broken[];
}

const filesOf = (ending: string): string[] =>
  captureNames.flatMap(name =>
    readdirSync(path.join(capturesFolder, name))
      .filter(file => file.endsWith(ending))
      .map(file => `${name}/${file}`),
  );

export const capturesOf: Readonly<Record<FormatName, readonly string[]>> = {
  trace: filesOf('kineto.json.gz'),
  export: filesOf('.sqlite.gz'),
};

/** One capture, ready to be damaged again and again. */
export class Target {
  private constructor(
    readonly format: FormatName,
    readonly capture: string,
    private readonly scratch: Scratch,
    private readonly once: (seed: number) => Promise<boolean>,
  ) {}

  static async of(format: FormatName, capture: string): Promise<Target> {
    const file = path.join(capturesFolder, capture);
    if (!existsSync(file)) throw new Error(`no capture ${capture}`);
    const scratch = new Scratch(format === 'trace' ? 'x.json' : 'x.sqlite');
    if (format === 'trace') {
      const bytes = new TextEncoder().encode(shortenedTrace(readText(file), PER_KIND));
      const intact: Intact = await intactTrace(bytes, scratch);
      return new Target(format, capture, scratch, async seed => {
        const { bytes, opened } = await tryTrace(intact, seeded(seed), scratch);
        return withOutput(opened, bytes, intact.bytes, seed, scratch);
      });
    }
    const intact: IntactExport = await intactExport(new Uint8Array(gunzipSync(readFileSync(file))), scratch);
    return new Target(format, capture, scratch, async seed => {
      const { bytes, opened } = await tryExport(intact, seeded(seed), scratch);
      return withOutput(opened, bytes, intact.bytes, seed, scratch);
    });
  }

  /** What one seed breaks, or whether the damaged file was opened. */
  async try(seed: number): Promise<Broken | boolean> {
    try {
      return await this.once(seed);
    } catch (error) {
      const { message, stack, name } = error as Error;
      const why = name === 'AssertionError' ? message.split('\n')[0] : String(stack);
      return { format: this.format, capture: this.capture, seed, why };
    }
  }

  done(): void {
    this.scratch.remove();
  }
}

/** A command takes longer than reading the file: it runs for every few that could be opened. */
async function withOutput(
  opened: boolean,
  bytes: Uint8Array,
  intact: Uint8Array,
  seed: number,
  scratch: Scratch,
): Promise<boolean> {
  if (opened && seed % ROUNDS_PER_COMMAND === 0) {
    const name = bytes[0] === 0x53 ? 'intact.sqlite' : 'intact.json';
    await checkOutput(scratch.write(bytes), scratch.write(intact, name), seeded(seed));
  }
  return opened;
}

/** So many rounds over all captures of a format, or as many as there is time for. */
export async function tryRounds(
  format: FormatName,
  seed: number,
  rounds: number,
  until = Number.POSITIVE_INFINITY,
): Promise<Tried> {
  const broken: Broken[] = [];
  let opened = 0;
  let tried = 0;
  const captures = capturesOf[format];
  for (const [i, capture] of captures.entries()) {
    const target = await Target.of(format, capture);
    const share =
      Math.floor(((i + 1) * rounds) / captures.length) - Math.floor((i * rounds) / captures.length);
    for (let n = 0; n < share && performance.now() < until; n++) {
      const outcome = await target.try(seed + tried++);
      if (typeof outcome === 'object') broken.push(outcome);
      else if (outcome) opened++;
    }
    target.done();
  }
  return { rounds: tried, opened, broken };
}
