/** What the newest releases of the engines changed, as their sources read: each era gets its own command. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPasted } from '../src/capture/pasted-command.js';
import { planAttach } from '../src/capture/plan-attach.js';
import { planCapture } from '../src/capture/plan-capture.js';
import { parseVersion } from '../src/capture/versions.js';
import { engineSwitches, trtllmRoutingMethods } from '../src/catalog/engine-switches.js';
import { engines } from '../src/catalog/engines.js';
import { activityOf } from '../src/catalog/host-activities.js';
import { readBenchText } from '../src/import/bench/open-bench.js';

const facts = (engineVersion?: string) => ({
  nsysVersion: parseVersion('2025.3.1'),
  ...(engineVersion ? { engineVersion: parseVersion(engineVersion) } : {}),
});
const plan = (line: string, version?: string, more = {}) => {
  const { command, options } = readPasted(line.split(' '));
  return planCapture({ command, ...options, ...more }, facts(version));
};
const codes = (line: string, version?: string, more = {}) =>
  plan(line, version, more).warnings.map(({ code }) => code);

test('vLLM: layer ranges from 0.13 on, not in graphs, not in the second runner', () => {
  const asked = { nvtxDebug: true, iterations: [{ first: 0, last: 9 }] };
  assert.ok(plan('vllm serve M', '0.13.0', asked).command.includes('--enable-layerwise-nvtx-tracing'));
  assert.ok(codes('vllm serve M', '0.13.0', asked).includes('no-ranges-in-graphs'));
  assert.ok(!codes('vllm serve M --enforce-eager', '0.13.0', asked).includes('no-ranges-in-graphs'));
  assert.ok(!plan('vllm serve M', '0.12.0', asked).command.includes('--enable-layerwise-nvtx-tracing'));
  assert.ok(codes('vllm serve M', '0.12.0', asked).includes('nvtx-debug-too-new'));
  assert.ok(!codes('vllm serve M', '0.23.0', asked).includes('second-model-runner'));
  assert.ok(codes('vllm serve M', '0.25.0', asked).includes('second-model-runner'));
  assert.ok(
    !codes('VLLM_USE_V2_MODEL_RUNNER=0 vllm serve M', '0.25.0', asked).includes('second-model-runner'),
  );
});

test('vLLM: fields of the profiler are given only to a version that is known to have them', () => {
  const asked = { torchTrace: '/t', torchShapes: true };
  const config = (version?: string) => {
    const { command } = plan('vllm serve M', version, asked);
    return JSON.parse(command[command.indexOf('--profiler-config') + 1]) as Record<string, unknown>;
  };
  for (const version of [undefined, '0.25.0']) {
    assert.equal(config(version).capture_torch_profiler, undefined);
    assert.equal(config(version).detailed_trace_annotation, undefined);
  }
  assert.equal(config('0.26.0').capture_torch_profiler, true);
  assert.equal(config('0.26.0').detailed_trace_annotation, true);
  const { outputs } = plan('vllm serve M', '0.26.0', asked);
  assert.deepEqual(
    outputs.map(({ pattern }) => pattern),
    ['/t/*.json.gz', '/t/capture_traces/*'],
  );
});

test('vLLM: steps go with /start_profile from 0.32 on, and not to an unknown version', () => {
  const question = { url: 'http://x/', engine: engines.vllm, spans: [{ first: 20, last: 29 }] };
  const bodies = (version?: string) =>
    planAttach({ ...question, ...(version ? { version: parseVersion(version) } : {}) }).steps.flatMap(step =>
      step.do === 'http' ? [step.body] : [],
    );
  assert.deepEqual(bodies('0.32.0')[0], { delay_iterations: 21, max_iterations: 10 });
  for (const version of [undefined, '0.31.0']) {
    assert.equal(bodies(version)[0], undefined);
    const { warnings } = planAttach({ ...question, ...(version ? { version: parseVersion(version) } : {}) });
    assert.equal(warnings.find(({ code }) => code === 'iterations-not-counted')?.severity, 'error');
  }
});

test('SGLang: the stages of its scheduler are ranges for nsys, not for the PyTorch profiler', () => {
  const line = 'python -m sglang.launch_server --model-path M';
  assert.equal(plan(line, '0.5.23').env.SGLANG_ENABLE_NVTX_SCHEDULER, '1');
  assert.equal(plan(line, '0.5.23', { nvtx: false }).env.SGLANG_ENABLE_NVTX_SCHEDULER, undefined);
  assert.equal(plan(line, '0.5.23', { torchTrace: '/t' }).env.SGLANG_ENABLE_NVTX_SCHEDULER, undefined);
  // What they are called there (sglang/srt/utils/nvtx_utils.py) names the cause of idle time.
  assert.equal(activityOf('scheduler.get_next_batch_to_run'), activityOf('get_next_batch_to_run'));
  for (const name of ['recv_requests', 'process_input_requests', 'process_batch_result']) {
    assert.ok(activityOf(name));
    assert.equal(activityOf(`scheduler.${name}`), activityOf(name), name);
  }
});

test('TensorRT-LLM: which models a perfect router reaches, by release', () => {
  const text = (version: string) =>
    plan('trtllm-bench --model M throughput', version, { perfectRouter: true }).warnings.find(
      ({ code }) => code === 'router-models',
    )!.text;
  assert.match(text('1.2.0'), /only GPT-OSS and DeepSeek-V3\/R1/);
  assert.match(text('1.3.0'), /SigmoidRenorm .* do not start with it/);
  for (const { method, planned } of trtllmRoutingMethods)
    assert.equal(text('1.3.0').includes(`${method} (`), !planned, method);
});

test('TensorRT-LLM: AutoDeploy is the PyTorch executor, VisualGen has its own window, a router has no GPU', () => {
  const window = { iterations: [{ first: 2, last: 4 }] };
  const auto = plan('trtllm-bench --model M throughput --backend _autodeploy', '1.3.0', window);
  assert.equal(auto.env.TLLM_PROFILE_START_STOP, '2-5');
  assert.ok(!auto.warnings.some(({ code }) => code === 'cpp-ranges'));
  const visual = plan('python examples/visual_gen/quickstart_example.py', '1.3.0', window);
  assert.deepEqual(visual.env, { TLLM_PROFILE_VISUAL_GEN_START_STOP: '2-4' });
  assert.ok(!visual.warnings.some(({ code }) => code === 'must-open-range'));
  for (const router of ['trtllm-serve disaggregated -c disagg.yaml', 'python -m dynamo.frontend'])
    assert.ok(codes(router).includes('client-profiled'), router);
  assert.ok(
    codes('trtllm-bench --model M throughput', '1.3.0', { nvtxDebug: true }).includes(
      'layer-ranges-by-config',
    ),
  );
});

test('Dynamo: its own ranges are turned on around the engine', () => {
  const { env } = plan('python -m dynamo.trtllm --model-path M');
  assert.deepEqual([env.DYN_ENABLE_RUST_NVTX, env.DYN_NVTX], ['1', '1']);
  assert.equal(
    plan('python -m dynamo.trtllm --model-path M', undefined, { nvtx: false }).env.DYN_NVTX,
    undefined,
  );
});

test('a variable in the command is explained, and questioned where it costs or does nothing', () => {
  const line = (name: string) => `${name}=1 trtllm-bench --model M throughput`;
  for (const { name, engine, costs, does } of engineSwitches.filter(
    ({ engine }) => engine === engines.trtllm,
  )) {
    const found = plan(line(name), '1.3.0');
    assert.ok(
      found.why.some(({ what, why }) => what === `${name}=1` && why.endsWith(does)),
      name,
    );
    assert.equal(
      found.warnings.some(({ code }) => code === 'switch-costs'),
      costs !== undefined,
      name,
    );
    assert.equal(engine.label, 'TensorRT-LLM');
  }
  assert.ok(codes(line('TLLM_PROFILE_LOG_RANKS'), '1.2.0').includes('switch-too-new'));
  assert.ok(!codes(line('TLLM_PROFILE_LOG_RANKS'), '1.3.0rc4').includes('switch-too-new'));
  assert.ok(codes('TLLM_METRICS_ALL_RANKS=1 vllm serve M', '0.30.0').includes('switch-of-other-engine'));
  assert.ok(!codes('FOO=1 vllm serve M').some(code => code.startsWith('switch')));
});

test('AIPerf: GPU telemetry of a run is its energy, in the unit it names', () => {
  const stat = (avg: number, unit: string) => ({ avg, unit });
  const run = (energy: object) =>
    readBenchText(
      'profile_export_aiperf.json',
      JSON.stringify({
        aiperf_version: '0.13.0',
        input_config: {},
        request_throughput: stat(2, 'requests/sec'),
        total_gpu_power: stat(900, 'W'),
        output_tokens_per_joule: stat(0.5, 'tokens/J'),
        ...energy,
      }),
    )[0].energy;
  assert.deepEqual(run({ total_gpu_energy: stat(4500, 'J') }), {
    totalJoules: 4500,
    gpuPowerWatts: 900,
    outputTokensPerSecondPerWatt: 0.5,
  });
  // A unit that we do not read is not taken for joules.
  assert.equal(run({ total_gpu_energy: stat(4.5, 'kWh') })?.totalJoules, undefined);
});
