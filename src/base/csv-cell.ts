/** Cells of CSV files: quoted where RFC 4180 asks for it, and harmless where a spreadsheet opens them. */

const unprintable =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing exactly those
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
/** A number with its sign and unit, which is no formula. */
const signedNumber = /^[+-][\d.,]+\s?[%\w/µ]*$/;
/** What a spreadsheet would compute, or a log viewer obey. */
const command = /^(?:[=@\t\r+-]|::|##\[)/;
/** `--Engine:even step`: NVIDIA's reports indent the names of ranges by dashes, the domain in front of a colon. */
const indentedName = /^-+(?:[^(|!"]*:[^|]*|[\w. /[\]-]*)$/;

export function csvCell(text: string): string {
  const clean = text.replace(unprintable, '·');
  const isName = signedNumber.test(clean) || indentedName.test(clean);
  const harmless = command.test(clean) && !isName ? `'${clean}` : clean;
  return /[",\n\r]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
