import { UserError } from '../../base/user-error.js';
import { answerFromLoads, answerFromLog, answerFromProfile } from '../../moe/answer.js';
import { describeMoe } from '../../moe/describe/describe-moe.js';
import { moeCsv, moeDocument } from '../../moe/describe/moe-document.js';
import { moePage } from '../../report/html/moe-page.js';
import { define } from '../command.js';
import { machineOf } from '../moe/machine.js';
import { readMoeFiles } from '../moe/read-moe.js';
import { machineOptions } from '../options.js';

export const moe = define({
  usage: ['FILE… [options]'],
  options: [...machineOptions, 'all'],
  formats: ['table', 'json', 'csv', 'markdown', 'html'],
  examples: [
    ['stepscope moe expert_statistic/ --gpus 32', 'expert counts from TensorRT-LLM (EXPERT_STATISTIC_PATH)'],
    ['stepscope moe loads.npy profile.sqlite', 'with a profile: the cost in step time'],
    ['stepscope moe server.log --expert-share 40%', 'balance from a vLLM or SGLang log'],
    ['stepscope moe rank*.sqlite', 'without counts: from the timelines of the ranks, layer by layer'],
    ['stepscope moe loads.npy -o moe.html', 'heat maps, as a page to share'],
  ],
  async run({ values, given, output, emit }) {
    const settings = machineOf(values);
    const { profiles, profile, balance, summary, log } = await readMoeFiles(given, settings, output);
    const onProgress = (done: number) => output.progress('placing experts', done);
    const question = { ...settings, profile, balance, onProgress };
    const answer = summary
      ? answerFromLoads(summary, question)
      : log
        ? answerFromLog(log, question)
        : answerFromProfile(profile ?? [], question);
    output.clearProgress();
    if (!answer)
      throw new UserError(
        'not-recorded',
        `${given[0]} is from one GPU and does not show the balance between GPUs.`,
        'Also give counts per expert (docs/moe.md), or the profiles of all ranks.',
      );
    await emit({
      blocks: () => describeMoe(answer, values.all),
      document: () => moeDocument(given, answer),
      csv: () => moeCsv(answer),
      page: cutter => moePage(answer, cutter),
      ...(profiles.length > 0 ? { view: { files: profiles } } : {}),
    });
    return 0;
  },
});
