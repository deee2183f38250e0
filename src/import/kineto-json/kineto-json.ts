/**
 * PyTorch profiler traces: Chrome trace JSON as written by Kineto (CUDA and ROCm, 2021 to today).
 * Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU and libkineto's
 * output_json.cpp.
 */

import { fileFormats } from '../../catalog/file-formats.js';
import type { Importer } from '../importer.js';
import { looksLikeTrace } from './read/recognize.js';

export const kinetoJson: Importer = {
  ...fileFormats.kinetoJson,
  recognizes: looksLikeTrace,
  // Loaded when such a file is there: thirty modules that other formats do not wait for.
  import: async (file, context) => (await import('./import-kineto.js')).importKineto(file, context),
};
