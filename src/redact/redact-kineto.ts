/** Copies a trace: once through for names of hosts and users, once more to write it without them. */
import { UserError } from '../base/user-error.js';
import type { ProfileFile } from '../import/profile-file.js';
import type { ByteSink } from './output-file.js';
import type { RedactSettings } from './redact-nsys.js';
import { TraceRewriter } from './rewrite-trace.js';
import { findTraceIdentities } from './trace-identities.js';
import { TraceRules } from './trace-rules.js';

/** The share of the time that the first look takes. */
const FIRST_LOOK = 0.2;

export async function redactKineto(
  file: ProfileFile,
  out: ByteSink,
  settings: RedactSettings,
): Promise<void> {
  const identities = await findTraceIdentities(file, done => settings.onProgress(done * FIRST_LOOK));
  const rules = new TraceRules(identities, settings.removals, settings.hashRanges);
  const collected = new ByteCollector();
  const rewriter = new TraceRewriter(rules, bytes => collected.add(bytes));
  for await (const chunk of file.borrowedChunks()) {
    rewriter.append(chunk);
    await collected.flushInto(out);
    const done = Math.min(1, (chunk.readBytes ?? 0) / file.sizeBytes);
    settings.onProgress(FIRST_LOOK + done * (1 - FIRST_LOOK));
  }
  rewriter.finish();
  await collected.flushInto(out);
  if (!rewriter.sawEvents) {
    throw new UserError(
      'not-a-profile',
      `${file.name} is JSON without a list of trace events.`,
      'Give the file written by torch.profiler (export_chrome_trace, tensorboard_trace_handler).',
    );
  }
}

/** What one chunk gave, in one piece: many small writes would cost more than the work itself. */
class ByteCollector {
  private bytes = new Uint8Array(1 << 20);
  private filled = 0;

  add(part: Uint8Array): void {
    if (this.filled + part.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.bytes.length * 2, this.filled + part.length));
      larger.set(this.bytes.subarray(0, this.filled));
      this.bytes = larger;
    }
    this.bytes.set(part, this.filled);
    this.filled += part.length;
  }

  async flushInto(out: ByteSink): Promise<void> {
    if (this.filled === 0) return;
    await out.write(this.bytes.subarray(0, this.filled));
    this.filled = 0;
  }
}
