/** Names come from strangers' files: control characters could move a cursor, rewrite a screen or turn the reading direction. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing exactly those
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '·');
}
