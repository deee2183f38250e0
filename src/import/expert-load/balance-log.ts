/**
 * Log lines about balance over GPUs: vLLM with eplb_config.log_balancedness (vllm/distributed/eplb/eplb_state.py, three
 * wordings) and SGLang with --enable-expert-distribution-metrics (srt/eplb/expert_distribution.py). Both print mean by
 * busiest GPU; there are no counts per expert in them.
 */
import { NoteCounter } from '../../base/notes.js';
import type { BalancePoint } from '../../model/expert-load.js';
import { refused } from './load-content.js';
import type { LoadImporter } from './load-importer.js';

const VLLM =
  /EPLB step:(?: (\d+)(?: for model [^:]{1,200})?:)? avg_tokens=([\d.]+), max_tokens=(\d+), balancedness=([\d.]+)/;
const SGLANG = /\[Expert Balancedness\] forward_pass_id=(\d+) current_pass_balancedness=([\d.]+)/;

export const balanceLog: LoadImporter = {
  id: 'balance-log',
  label: 'log of vLLM (log_balancedness) or SGLang ([Expert Balancedness])',
  // The first such line may stand far into a log; what is neither binary nor JSON is worth reading for it.
  recognizes: ({ head, headText }) =>
    head.length > 0 &&
    !head.includes(0) &&
    !/^\s*(?:\{|\[\s*[[{])/.test(headText) &&
    !/^\s*\d+(\.0*)?\s*,/.test(headText) &&
    !/^\s*(?:"?(?:iteration|iter|step)"?\s*,\s*)?"?layer"?\s*,/i.test(headText),
  async open(content) {
    const text = await content.text();
    const notes = new NoteCounter();
    const points: BalancePoint[] = [];
    let engine = '';
    for (const line of text.split('\n')) {
      const vllm = VLLM.exec(line);
      const sglang = vllm ? null : SGLANG.exec(line);
      if (!vllm && !sglang) continue;
      engine = vllm ? 'vLLM' : 'SGLang';
      const balancedness = Number(vllm ? vllm[4] : sglang![2]);
      // A pass without tokens is printed as 0.
      if (!(balancedness > 0 && balancedness <= 1.0001)) {
        notes.add('empty-pass', 'info', 'passes without tokens were left out', line.trim());
        continue;
      }
      // The printed ratio has four digits; mean and most give it in full.
      const ratio = vllm && Number(vllm[2]) > 0 ? Number(vllm[3]) / Number(vllm[2]) : 1 / balancedness;
      points.push({
        // Its counter starts again with every rearrangement, and old versions print none: the order counts.
        iteration: vllm ? points.length : Number(sglang![1]),
        maxOverMean: Math.max(1, ratio),
        ...(vllm ? { meanTokens: Number(vllm[2]) } : {}),
      });
    }
    if (points.length === 0)
      throw refused(
        content.name,
        'it is text, but contains neither expert counts nor log lines about expert balance',
        'Give counts as npy, json or csv, an engine log with balance lines, or a profile (docs/moe.md lists them).',
      );
    return {
      kind: 'balance-log',
      source: { file: content.name, format: balanceLog.id },
      engine,
      points,
      notes,
      close: () => content.close(),
    };
  },
};
