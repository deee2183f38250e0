/**
 * Answers of trtllm-serve's `/energy_metrics` (tensorrt_llm/serve/openai_server.py, `get_energy_metrics`;
 * `enable_energy_metrics: true`), one per line: the joules of its GPUs since the server started, and when it was
 * asked, in seconds of Python's perf_counter. The energy of a run is the difference of two answers.
 */
import { UserError } from '../../base/user-error.js';
import { energyIn } from '../../catalog/request-times.js';
import type { BenchImporter } from './bench-importer.js';
import { RunDraft, SECONDS } from './run-draft.js';

export const trtllmEnergyMetrics: BenchImporter = {
  id: 'trtllm-energy-metrics',
  label: '/energy_metrics of trtllm-serve, two answers or more',
  recognizes: content => rowsOf(content.documents.map(({ value }) => value)).some(row => energyIn(row)),
  read(content) {
    const readings = rowsOf(content.documents.map(({ value }) => value))
      .flatMap(row => energyIn(row) ?? [])
      .sort((a, b) => a.seconds - b.seconds);
    const [first, last] = [readings[0], readings.at(-1)!];
    if (readings.length < 2 || last.seconds <= first.seconds)
      throw new UserError(
        'not-recorded',
        `${content.file} has one answer of /energy_metrics, which counts from the start of the server.`,
        'Ask before and after the run, and put both answers in one file, one per line.',
      );
    const draft = new RunDraft('trtllm-serve').text('framework', 'TensorRT-LLM');
    if (readings.some(({ joules }, i) => i > 0 && joules < readings[i - 1].joules))
      throw new UserError(
        'not-recorded',
        `${content.file} has answers of /energy_metrics from before and after a restart of the server.`,
        'Keep the answers of one start of the server.',
      );
    const joules = last.joules - first.joules;
    const seconds = last.seconds - first.seconds;
    draft
      .number('energy.totalJoules', joules)
      .number('energy.gpuPowerWatts', joules / seconds)
      .number('durationNs', seconds, SECONDS);
    return [draft.build(content.file, trtllmEnergyMetrics.id)];
  },
};

const rowsOf = (values: readonly unknown[]): readonly unknown[] =>
  values.flatMap(value => (Array.isArray(value) ? value : [value]));
