/** A copy of a profile that is fit to share: which format it is, where the copy goes, and the list of what is gone. */
import { UserError } from '../base/user-error.js';
import { fileFormats } from '../catalog/file-formats.js';
import { importersOf } from '../import/index.js';
import { CutOffError, ProfileFile } from '../import/profile-file.js';
import { inputOnDisk } from '../import/standard-input.js';
import { nowhere, OutputFile, PageFile, StreamFile } from './output-file.js';
import { redactDocument } from './redact-document.js';
import { redactKineto } from './redact-kineto.js';
import { redactNsys } from './redact-nsys.js';
import { type Removal, Removals } from './removals.js';

const { kinetoJson, nsysRep, nsysSqlite, perfetto } = fileFormats;

interface RedactOptions {
  readonly input: string;
  /** Where the copy goes; without it, only what would be removed is told. */
  readonly output: string | undefined;
  readonly hashRanges: boolean;
  readonly force: boolean;
  readonly onProgress: (done: number) => void;
}

export async function redactProfile(options: RedactOptions): Promise<readonly Removal[]> {
  const output = options.output === undefined ? undefined : new OutputFile(options.output, options.force);
  const input = await inputOnDisk(options.input);
  const file = ProfileFile.open(input.path, input.name);
  let opened: PageFile | StreamFile | undefined;
  try {
    const [importer] = await importersOf(file);
    if (importer?.id === nsysRep.id) {
      throw new UserError(
        'usage',
        `${file.name} is a report, and only NVIDIA tools can write that format.`,
        'Export it (nsys export --type sqlite REPORT.nsys-rep) and redact the export.',
      );
    }
    if (importer?.id === perfetto.id) {
      throw new UserError(
        'usage',
        `${file.name} is a Perfetto trace, and redact reads JSON only.`,
        'Write it as JSON (stepscope export TRACE.pftrace -o TRACE.json) and redact that.',
      );
    }
    output?.check(input.path);
    const settings = { ...options, removals: new Removals() };
    if (importer?.id === nsysSqlite.id) {
      const pages = output && new PageFile(output);
      opened = pages;
      // A database is packed only when it is whole, which then takes most of the time.
      const share = output?.packed ? 0.4 : 1;
      const onProgress = (done: number) => options.onProgress(done * share);
      await redactNsys(file, pages ?? nowhere, { ...settings, onProgress });
      await pages?.finish(done => options.onProgress(share + done * (1 - share)));
    } else {
      const stream = output && new StreamFile(output);
      opened = stream;
      const redact = importer?.id === kinetoJson.id ? redactKineto : redactDocument;
      await redact(file, stream ?? nowhere, settings);
      await stream?.finish();
    }
    return settings.removals.list();
  } catch (error) {
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code === 'ERR_STRING_TOO_LONG') {
      throw new UserError(
        'too-large',
        `${file.name} contains a text that is too long to check (${(error as Error).message}).`,
        'If the file is small, it is damaged: export or capture it again.',
      );
    }
    if (!(error instanceof CutOffError)) throw error;
    throw new UserError(
      'damaged',
      `${file.name} is compressed, and the archive is truncated or damaged.`,
      'Copy it again and compare its size with the original.',
    );
  } finally {
    opened?.close();
    output?.discard();
    file.close();
  }
}
