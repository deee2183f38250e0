/**
 * Perfetto traces (.pftrace): those of PyTorch's profiler, whose newest builds write them next to Chrome JSON, and those
 * of `stepscope export`. Format: https://perfetto.dev/docs/reference/trace-packet-proto
 */
import { fileFormats } from '../../catalog/file-formats.js';
import type { Importer } from '../importer.js';
import { looksLikePerfetto } from './recognize.js';

export const perfetto: Importer = {
  ...fileFormats.perfetto,
  recognizes: looksLikePerfetto,
  import: async (file, context) => (await import('./import-perfetto.js')).importPerfetto(file, context),
};
