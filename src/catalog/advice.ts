/** Which advice fits a program: of its engine first, and none that it follows already. */
import { adviceFor, type Circumstance } from './advice-texts.js';
import { engines } from './engines.js';

/** What is known of the program that advice is for. */
export interface AdvisedProgram {
  readonly engine: string;
  readonly usesTorch: boolean;
  readonly isAmd: boolean;
  readonly overlapsSteps: boolean;
  readonly hasNarrowWeights: boolean;
  /** Options it was started with, where that is known. */
  readonly flags?: readonly string[];
}

/** Options an advice asks for: not those it asks to leave out. */
const AGAINST = /(?:do not run with|leave out|--only) (--)?[a-z-]+/g;
const asksFor = (text: string) => text.replaceAll(AGAINST, '').match(/--[a-z][a-z-]+/g) ?? [];
/** All that it asks for is on already. */
const isDone = (text: string, flags: readonly string[] = []) =>
  asksFor(text).length > 0 && asksFor(text).every(flag => flags.includes(flag));

/** The engine's own settings first, then what PyTorch calls what to do where it runs on that, else any program. */
export function adviceOn(id: string, program: AdvisedProgram): { engine: string; text: string }[] {
  const holds: Record<Circumstance, boolean> = {
    'steps-overlap': program.overlapsSteps,
    'narrow-weights': program.hasNarrowWeights,
    amd: program.isAmd,
  };
  const fitting = (adviceFor[id] ?? []).filter(
    ({ unless, only, text }) =>
      !unless?.some(fact => holds[fact]) &&
      (only === undefined || holds[only]) &&
      !isDone(text, program.flags),
  );
  const isTorch = program.usesTorch || program.engine === engines.pytorch.label;
  // The general text would say the same again.
  const general = isTorch && fitting.some(({ engine }) => engine === engines.pytorch.label);
  const order = [program.engine, general ? engines.pytorch.label : 'any'];
  return [...new Set(order)].flatMap(whose =>
    fitting
      .filter(({ engine }) => engine === whose)
      .map(({ engine, text }) => ({
        engine: engine === engines.pytorch.label ? 'any' : engine,
        text: program.isAmd ? text.replaceAll('CUDA graph', 'HIP graph') : text,
      })),
  );
}
