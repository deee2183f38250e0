/** A text that can be pasted into a shell as it is. */
export const shellWord = (text: string): string =>
  /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
