/** A cell of a CSV file, quoted where RFC 4180 asks for it. */
export function csvCell(text: string): string {
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
