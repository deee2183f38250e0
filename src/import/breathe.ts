/** Lets others have a turn: a server that is opening a file still answers how far it is. */
const WORK_SECONDS = 0.04;

/** `performance` is a module of its own, which takes Node a millisecond to load. */
const now = () => process.uptime();

/** Called often; gives way when so much time has passed since it last did. */
export function breather(): () => Promise<void> {
  let last = now();
  return async () => {
    if (now() - last < WORK_SECONDS) return;
    await new Promise(setImmediate);
    last = now();
  };
}
