// Predicts every measured pair again and prints lines for src/catalog/prediction-pairs.ts.
//
//   npm run build && node docs/evidence/whatif/judge.mjs RUNS [CAPTURES]
//
// RUNS holds a folder per run, ENGINE-MODEL-MODE-bBATCH-PROFILER, with profile.sqlite.gz or trace.json.gz and key.json,
// whose quietMs is the decode step of the same process without the profiler.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Analyzer } from '../../../dist/src/analyze/analysis.js';
import { totalsByPhase } from '../../../dist/src/analyze/inference/budget-totals.js';
import { stepBudget } from '../../../dist/src/analyze/inference/step-budget.js';
import { changesOf } from '../../../dist/src/analyze/whatif/changes.js';
import { equationOf } from '../../../dist/src/analyze/whatif/equation.js';
import { predictPhases } from '../../../dist/src/analyze/whatif/predict.js';
import { findModel } from '../../../dist/src/catalog/models.js';
import { openProfile } from '../../../dist/src/import/open.js';

const [runs, captures] = process.argv.slice(2);
const profilers = { 'nsys-nodes': 'nsys', torch: 'PyTorch profiler' };
const fileOf = run =>
  ['profile.sqlite.gz', 'trace.json.gz'].map(name => path.join(runs, run, name)).find(existsSync);
const isDecode = ({ phase }) => phase === 'decode' || phase === 'unknown';
const ms = ns => Number((ns / 1e6).toFixed(3));

async function judge(name, half, before, after, asked, model) {
  if (!before || !after) return console.log(`// missing: ${name}`);
  const settings = model ? { model: findModel(model).config } : {};
  const open = async file => new Analyzer(await openProfile([file], {}), settings);
  const [first, second] = [await open(before), await open(after)];
  const predictions = predictPhases(first, changesOf(asked), asked.batch ? { batch: asked.batch } : {});
  const found = predictions.find(isDecode);
  if (!found?.from) return console.log(`// ${name}: cannot tell: ${found?.cannotTell}`);
  const idle = found.changes.filter(({ outcome }) => outcome.status !== 'applied');
  const mean = analyzer => {
    const { wallNs, windows } = totalsByPhase(analyzer.get(stepBudget).rows).find(isDecode);
    return wallNs / windows;
  };
  const [fromNs, toNs] = [mean(first), mean(second)];
  const line = [ms(fromNs), ms(toNs), ms(fromNs + equationOf(found).changeNs)].join(', ');
  const change = Object.keys(asked)
    .map(name => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`))
    .join('+');
  const quiet = [before, after].map(file => {
    const key = path.join(path.dirname(file), 'key.json');
    const { quietMs, unprofiledDecodeMs } = existsSync(key) ? JSON.parse(readFileSync(key, 'utf8')) : {};
    return quietMs ?? unprofiledDecodeMs ?? '?';
  });
  const why = idle.length > 0 ? ` not applied: ${idle.map(({ outcome }) => outcome.why).join('; ')}` : '';
  console.log(
    `pair('${change}', '${name}', '${half}', [${line}]), // without profiler ${quiet.join(' → ')}${why}`,
  );
}

for (const profiler of Object.keys(profilers)) {
  const run = (engine, mode, batch) => fileOf(`${engine}-${mode}-b${batch}-${profiler}`);
  const tool = profilers[profiler];
  for (const batch of [8, 1, 64]) {
    const half = batch === 8 ? 'fit' : 'judge';
    const name = `vLLM, Llama-8B, batch ${batch}, ${tool}`;
    const of = mode => run('vllm-llama8b', mode, batch);
    await judge(name, half, of('eager'), of('graphs'), { graphs: true });
    await judge(name, half, of('graphs'), of('async'), { async: true });
    await judge(name, half, of('eager'), of('async'), { graphs: true, async: true });
    await judge(name, half, of('graphs'), of('fp8'), { fp8: true });
  }
  for (const [mode, words] of [
    ['graphs', ''],
    ['async', ', asynchronous'],
    ['fp8', ', FP8'],
  ])
    for (const [now, requests] of [
      [8, 64],
      [1, 8],
    ])
      await judge(
        `vLLM, Llama-8B${words}, batch ${now} to ${requests}, ${tool}`,
        mode === 'graphs' && now === 8 ? 'fit' : 'judge',
        run('vllm-llama8b', mode, now),
        run('vllm-llama8b', mode, requests),
        { batch: { now, requests } },
      );
  for (const batch of [16, 64])
    await judge(
      `vLLM, Qwen3-30B-A3B, batch ${batch}, ${tool}`,
      'judge',
      run('vllm-qwen3', 'eager', batch),
      run('vllm-qwen3', 'graphs', batch),
      { graphs: true },
    );
  for (const [now, requests] of [
    [16, 64],
    [1, 16],
  ])
    await judge(
      `vLLM, Qwen3-30B-A3B, batch ${now} to ${requests}, ${tool}`,
      'judge',
      run('vllm-qwen3', 'graphs', now),
      run('vllm-qwen3', 'graphs', requests),
      { batch: { now, requests } },
      'qwen3-30b-a3b',
    );
}
const sglang = (mode, batch) => fileOf(`sglang-llama8b-${mode}-b${batch}-nsys-nodes`);
for (const batch of [8, 64])
  await judge(
    `SGLang, Llama-8B, batch ${batch}, nsys`,
    'judge',
    sglang('eager', batch),
    sglang('graphs', batch),
    { graphs: true },
  );
for (const batch of [8, 1, 64])
  await judge(
    `SGLang, Llama-8B, batch ${batch}, nsys`,
    'judge',
    sglang('no-overlap', batch),
    sglang('graphs', batch),
    { async: true },
  );
// The GPU decides the step here: how fast the host of a run happens to be does not matter.
const llama = (mode, batch) => fileOf(`vllm-llama8b-${mode}-b${batch}-nsys-nodes`);
for (const batch of [8, 1, 64])
  await judge(
    `vLLM, Llama-8B, asynchronous, batch ${batch}, nsys`,
    'judge',
    llama('async-again', batch),
    llama('fp8-async', batch),
    { fp8: true },
  );
// ../host-code/planted.py: windows of one process, next to each other.
for (const [asked, name, windows] of [
  ['noGc', 'collections in every step', ['2-gc', '3-none', '12-gc', '13-none']],
  ['fewerSyncs', '.item() per request', ['4-item', '5-copies', '6-item', '7-copies']],
  ['pinned', '12 MiB uploaded per step', ['8-pageable', '9-pinned', '10-pageable', '11-pinned']],
])
  for (const first of [0, 2])
    await judge(
      `vLLM, Llama-8B, batch 8, ${name}${first ? ', again' : ''}, nsys`,
      'judge',
      llama(`planted-${windows[first]}`, 8),
      llama(`planted-${windows[first + 1]}`, 8),
      { [asked]: true },
    );
if (captures)
  for (const [name, ...files] of [
    [
      'vLLM, Llama-8B, batch 8, nsys, an earlier run',
      'vllm-eager/profile.sqlite.gz',
      'vllm-graphs/profile.sqlite.gz',
    ],
    ['22-layer decoder, batch 8, nsys', 'eager/profile.sqlite.gz', 'graph/profile.sqlite.gz'],
    ['22-layer decoder, batch 8, PyTorch profiler', 'eager/kineto.json.gz', 'graph/kineto.json.gz'],
  ])
    await judge(name, 'judge', ...files.map(file => path.join(captures, file)), { graphs: true });
