/** Names come from strangers' files: control characters could move a cursor, rewrite a screen or turn the reading direction. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing exactly those
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '·');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding exactly those
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const paintedOrUnprintable = new RegExp(`(\u001b\\[[0-9;]*m)|${unprintable.source}`, 'g');
/** A line that GitHub Actions or Azure Pipelines would take for a command, wherever in it the first word stands. */
const workflowCommand = /^(\s*)(::|##\[|##vso\[)/gm;

/**
 * The same for whole texts on their way out: lines stay, and so do our own colours where the text has them. A name that
 * comes to stand at the beginning of a line must not command the machine that shows the log.
 */
export function printableLines(text: string, painted = false): string {
  const clean = painted
    ? text.replace(paintedOrUnprintable, (_, paint?: string) => paint ?? '·')
    : text.replace(unprintable, '·');
  return clean.replace(workflowCommand, '$1·$2');
}

/** The same for JSON, whose own escapes leave those beyond ASCII as they are. */
export function printableJson(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
