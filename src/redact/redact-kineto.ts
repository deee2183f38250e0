import type { ProfileFile } from '../import/profile-file.js';
import type { StreamFile } from './output-file.js';
import type { RedactSettings } from './redact-nsys.js';

export async function redactKineto(_file: ProfileFile, _out: StreamFile, _s: RedactSettings): Promise<void> {}
