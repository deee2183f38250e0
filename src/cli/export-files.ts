/** Files for other tools: which format a name asks for, and writing one piece by piece. */
import { UserError } from '../base/user-error.js';
import { withoutPacking } from '../catalog/file-formats.js';
import { OutputFile, StreamFile } from '../redact/output-file.js';

type ExportFormat = 'perfetto' | 'chrome' | 'otlp';

/** By the end of the file's name; of two that fit, the longer. */
const endings: readonly [ending: string, format: ExportFormat][] = [
  ['.otlp.json', 'otlp'],
  ['.pftrace', 'perfetto'],
  ['.perfetto-trace', 'perfetto'],
  ['.json', 'chrome'],
];

export function exportFormatOf(file: string): ExportFormat {
  const name = withoutPacking(file.toLowerCase());
  const found = endings.find(([ending]) => name.endsWith(ending));
  if (found && !/\.(zst|xz)$/.test(file.toLowerCase())) return found[1];
  throw new UserError(
    'usage',
    `The name of ${file} does not name a format.`,
    'Use .pftrace (Perfetto), .json (Chrome) or .otlp.json (OpenTelemetry), compressed with .gz; or add --to.',
  );
}

/** Writes the pieces to a file that appears whole or not at all, and returns how many bytes it has. */
export async function writePieces(
  file: string,
  inputs: readonly string[],
  pieces: Iterable<string | Uint8Array>,
  force: boolean,
): Promise<number> {
  const output = new OutputFile(file, force);
  for (const input of inputs) output.check(input);
  const encoder = new TextEncoder();
  const stream = new StreamFile(output);
  let bytes = 0;
  try {
    for (const piece of pieces) {
      const chunk = typeof piece === 'string' ? encoder.encode(piece) : piece;
      bytes += chunk.length;
      await stream.write(chunk);
    }
    await stream.finish();
  } finally {
    stream.close();
    output.discard();
  }
  return bytes;
}
