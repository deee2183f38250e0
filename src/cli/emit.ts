/** Every result in every format, to standard output or to a file: the only place that knows which format is which. */
import type { Block } from '../analyze/block.js';
import { type Envelope, envelopeOf, type JsonAnswer } from '../base/envelope.js';
import { printable, printableLines } from '../base/printable.js';
import { shellQuote } from '../capture/shell-quote.js';
import { pluginNotes } from '../plugins/plugin-failures.js';
import { csv } from '../report/csv.js';
import type { Cutter } from '../report/html/limits.js';
import type { Report } from '../report/html/sections.js';
import { json } from '../report/json.js';
import { markdown } from '../report/markdown.js';
import type { RenderContext } from '../report/renderer.js';
import { type Shape, shapedText } from '../report/shape-document.js';
import { PIPE_WIDTH } from '../report/terminal.js';
import { text } from '../report/text.js';
import type { Output } from './output.js';
import { version } from './version.js';
import { writeResult } from './write-result.js';

export const formatIds = ['table', 'json', 'csv', 'markdown', 'html'] as const;
export type FormatId = (typeof formatIds)[number];

export const extensions: Readonly<Record<FormatId, string>> = {
  table: text.extension,
  json: json.extension,
  csv: csv.extension,
  markdown: markdown.extension,
  html: 'html',
};

export interface Destination {
  readonly format: FormatId;
  /** Absent: standard output. */
  readonly file?: string;
  readonly force: boolean;
  /** Of JSON: how much of it. */
  readonly shape?: Shape;
  /** Words that may name the files the result was made from. */
  readonly given?: readonly string[];
  /** Names in full and every column, however long the lines. */
  readonly wide?: boolean;
}

/** What a command found. Blocks are enough for every format; a function for a format says it better than they do. */
export interface Result {
  blocks(): readonly Block[];
  /** For JSON, by the schema it names. Every one goes out in the same envelope. */
  document(): JsonAnswer;
  csv?(): string;
  page?(cutter: Cutter): Report;
  text?(context: RenderContext): string;
  markdown?(): string;
  /** Results with files of their own, where `-o` names a prefix; undefined where this format has one file. */
  parts?(format: FormatId): readonly ResultPart[] | undefined;
  /** Rows to show to people, and the option that gives everything. */
  readonly shown?: Pick<RenderContext, 'rowLimit' | 'allColumns'>;
  /** The files that `stepscope view` shows this in, as they were given; the last line of a table says so. */
  readonly view?: { readonly files: readonly string[]; readonly compared?: readonly string[] };
  /** Largest page. */
  readonly maxBytes?: number;
}

export interface ResultPart {
  readonly id: string;
  content(): string;
}

export async function emit(result: Result, destination: Destination, output: Output): Promise<void> {
  const { format, file, force, wide = false } = destination;
  if (file === undefined) {
    output.out(await render(result, destination, wide ? { ...output, width: Infinity } : output));
    return;
  }
  const parts = result.parts?.(format);
  if (!parts)
    writeResult(
      file,
      await render(result, destination, { width: wide ? Infinity : PIPE_WIDTH, color: false }),
      force,
      output,
    );
  else
    for (const [i, name] of partFiles(parts, file, format).entries())
      writeResult(name, parts[i].content(), force, output);
}

/** A single result may have the very file that was named; several have its name before theirs. */
function partFiles(parts: readonly ResultPart[], file: string, format: FormatId): string[] {
  const ending = `.${extensions[format]}`;
  if (parts.length === 1 && file.endsWith(ending)) return [file];
  const prefix = file.endsWith(ending) ? file.slice(0, -ending.length) : file;
  return parts.map(({ id }) => `${prefix}_${id}${ending}`);
}

async function render(
  result: Result,
  { format, shape, given = [] }: Destination,
  { width, color, colorDepth }: Pick<RenderContext, 'width' | 'color' | 'colorDepth'>,
): Promise<string> {
  const context = { width, color, ...(colorDepth ? { colorDepth } : {}), ...result.shown };
  switch (format) {
    case 'table':
      return `${printableLines(result.text?.(context) ?? text.render(result.blocks(), context), color)}${viewLine(result)}`;
    case 'json':
      return shapedText(withPluginNotes(envelopeOf(result.document(), tool(), await inputs(given))), shape);
    case 'csv':
      return result.csv?.() ?? csv.render(result.blocks(), context);
    case 'markdown':
      return printableLines(result.markdown?.() ?? markdown.render(result.blocks(), context));
    case 'html':
      // What makes pages is large, and no other format needs it.
      return (await import('./html-page.js')).htmlPage(result);
  }
}

/** Hashing brings libraries along that no other format needs. */
const inputs = async (given: readonly string[]) => (await import('./inputs.js')).inputsOf(given);

const withPluginNotes = (envelope: Envelope): Envelope => ({
  ...envelope,
  notes: [...envelope.notes, ...pluginNotes()],
});

const tool = () => `stepscope ${version()}`;

function viewLine({ view }: Result): string {
  if (!view) return '';
  const words = (files: readonly string[]) => files.map(file => shellQuote(printable(file))).join(' ');
  const other = view.compared ? ` --compare ${words(view.compared)}` : '';
  return `→ stepscope view ${words(view.files)}${other}\n`;
}
