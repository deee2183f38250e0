/** Lets others have a turn: a server that is opening a file still answers how far it is. */
const WORK_MS = 40;

/** Called often; gives way when so much time has passed since it last did. */
export function breather(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < WORK_MS) return;
    await new Promise(setImmediate);
    last = performance.now();
  };
}
