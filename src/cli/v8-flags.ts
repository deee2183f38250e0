/**
 * How V8 runs our commands; set before anything else is loaded.
 *
 * V8 compiles a function again once it has run often enough. Our analyses are many functions that run once per file:
 * compiling them all took a third of the CPU time of a small file, more than it gained. What counts as often is told by
 * other flags from version 12 on (Node 22), and V8 prints an error about a flag that it does not know.
 *
 * Functions that have not run for a while lose their code; it stays, to be kept for the next call (`load-bundle.ts`).
 */
export function v8Flags(version: string): readonly string[] {
  switch (Number.parseInt(version, 10)) {
    case 11:
      return [KEEP_CODE, '--interrupt-budget=600000'];
    case 12:
    case 13:
      return [KEEP_CODE, '--invocation-count-for-maglev=3200', '--invocation-count-for-turbofan=24000'];
    default:
      return [];
  }
}

const KEEP_CODE = '--no-flush-bytecode';
