/** A real vLLM on a CPU, with a small model of random weights: started, loaded, profiled and stopped, to the page. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { lacks, locate } from '../src/testing/needs.js';
import { runStepscope } from './run-stepscope.js';

const skip = lacks('vllm');
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'stepscope-vllm-'));
const model = path.join(work, 'model');
const saved = { ...process.env };

/** A tokenizer of bytes, and two layers. */
const MODEL = `
import json, sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
bytes_ = Tokenizer(models.BPE())
bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
bytes_.decoder = decoders.ByteLevel()
special = ["<s>", "</s>"]
bytes_.train_from_iterator([], trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=special))
PreTrainedTokenizerFast(tokenizer_object=bytes_, bos_token="<s>", eos_token="</s>").save_pretrained(sys.argv[1])
json.dump({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 512, "hidden_size": 128,
  "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 4,
  "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "hidden_act": "silu", "torch_dtype": "bfloat16",
  "bos_token_id": 0, "eos_token_id": 1, "rope_theta": 10000.0}, open(sys.argv[1] + "/config.json", "w"))
`;

before(() => {
  if (skip) return;
  const bin = path.dirname(locate('vllm')!);
  fs.mkdirSync(model);
  const made = spawnSync(path.join(bin, 'python'), ['-c', MODEL, model], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  Object.assign(process.env, {
    ...{ VLLM_CPU_KVCACHE_SPACE: '1', VLLM_CPU_OMP_THREADS_BIND: 'nobind', OMP_NUM_THREADS: '1' },
    ...{ HF_HUB_OFFLINE: '1', STEPSCOPE_CACHE: path.join(work, 'cache'), PATH: `${bin}:${process.env.PATH}` },
  });
});
after(() => {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
  Object.assign(process.env, saved);
  fs.rmSync(work, { recursive: true, force: true });
});

async function freePort(): Promise<string> {
  const server = http.createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return String(port);
}

/** Requests of prefill and of decode in each recorded step. */
async function steps(name: string, ...options: string[]): Promise<[context: number, generation: number][]> {
  const folder = path.join(work, name);
  const { err } = await runStepscope([
    ...['capture', '--torch-trace', folder, ...options, '--', 'vllm', 'serve', model],
    ...['--load-format', 'dummy', '--enforce-eager', '--max-model-len', '8192'],
    ...['--host', '127.0.0.1', '--port', await freePort()],
  ]);
  const [trace] = fs.existsSync(folder)
    ? fs.readdirSync(folder).filter(file => /trace\.json\.gz$/.test(file))
    : [];
  assert.ok(trace, err);
  const text = gunzipSync(fs.readFileSync(path.join(folder, trace))).toString();
  const names = text.matchAll(/"name": "execute_context_(\d+)\([^)]*\)_generation_(\d+)\(/g);
  return [...names].map(([, context, generation]) => [Number(context), Number(generation)]);
}

test('--when: exactly the steps asked for, of the batch asked for', { skip }, async () => {
  const recorded = await steps('when', '--when', 'batch>=12', '--steps', '30');
  assert.equal(recorded.length, 30);
  assert.ok(
    recorded.every(([context, generation]) => context + generation >= 10),
    JSON.stringify(recorded),
  );
});

test('--phase decode: decode alone', { skip }, async () => {
  const recorded = await steps('decode', '--phase', 'decode', '--steps', '30');
  assert.equal(recorded.length, 30);
  assert.deepEqual([...new Set(recorded.map(([context]) => context))], [0]);
});
