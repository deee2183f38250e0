/**
 * How V8 runs our commands; set before anything else is loaded.
 *
 * V8 compiles a function again once it has run so much bytecode (132 kB by default). Our analyses are many functions
 * that run once per file: compiling them all took a third of the CPU time of a small file, more than it gained.
 */
export const V8_FLAGS = ['--interrupt-budget=600000'] as const;
