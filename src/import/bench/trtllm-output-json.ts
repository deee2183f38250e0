/** `trtllm-bench … --output_json`: the answers by request id. Known, so that the user learns which file to give. */
import { UserError } from '../../base/user-error.js';
import type { BenchImporter } from './bench-importer.js';

export const trtllmOutputJson: BenchImporter = {
  id: 'trtllm-output-json',
  label: 'trtllm-bench --output_json (model output only)',
  recognizes({ documents, objects }) {
    if (documents.length !== 1 || objects.length !== 1) return false;
    const entries = Object.entries(objects[0].value);
    return (
      entries.length > 0 && entries.every(([id, text]) => /^\d{1,15}$/.test(id) && typeof text === 'string')
    );
  },
  read({ file }) {
    throw new UserError(
      'not-recorded',
      `${file} contains the model output of a benchmark (--output_json), but no metrics.`,
      'Give the text that trtllm-bench printed, or run it with --report_json FILE or --request_json FILE.',
    );
  },
};
