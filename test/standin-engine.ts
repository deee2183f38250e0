/**
 * An engine and a profiler for tests without a GPU, as programs of their own. The engine has the routes, variables and
 * log lines of TensorRT-LLM's server (tensorrt_llm/serve/openai_server.py, _torch/pyexecutor/py_executor.py), of vLLM
 * (vllm/v1/metrics/loggers.py, entrypoints/serve/profile) or of SGLang (srt/managers/scheduler_profiler_mixin.py): it
 * batches requests, runs steps, counts them and records those of its window. The profiler runs it, and makes a report
 * of what it recorded, which it also exports. On request (STANDIN_LIES) the engine lies, slows down or dies.
 *
 *   standin-engine.js nsys profile -o NAME … PROGRAM ARGS     standin-engine.js trtllm|vllm|sglang ARGS
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as path from 'node:path';
import { gzipSync } from 'node:zlib';

export interface RecordedStep {
  readonly iteration: number;
  readonly context: number;
  readonly generation: number;
}

const MAGIC = 'NVIDIA Tegra Profiler Report 2025@3@1@90-253135822126v0.\n';

export const recordedIn = (file: string): RecordedStep[] =>
  JSON.parse(fs.readFileSync(file, 'utf8').slice(MAGIC.length));

const { STANDIN_LIES = '', STANDIN_REPORT = '', STANDIN_CALLS = '' } = process.env;
const isBalanced = process.env.ENABLE_PERFECT_ROUTER === '1';
const STEP_MS = Number(process.env.STANDIN_STEP_MS ?? 1) * (isBalanced ? 0.5 : 1);
const MOST_BATCH = Number(process.env.STANDIN_MOST_BATCH ?? 64);
const lies = new Map(STANDIN_LIES.split(',').map(lie => lie.split(':') as [string, string | undefined]));
const lieAt = (name: string) => (lies.has(name) ? Number(lies.get(name) ?? 0) : Infinity);

// --- the profiler ------------------------------------------------------------------------------------------------

async function nsys([verb, ...words]: string[]): Promise<void> {
  if (verb === '--version')
    return void console.log('NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0');
  if (words[0] === '--help') return void console.log('usage: nsys export [<args>]');
  const target = words[words.indexOf('-o') + 1];
  if (verb === 'export') return exportTo(target, recordedIn(words.at(-1)!));
  const report = `${target}.nsys-rep`;
  const program = words.findIndex(word => /trtllm-serve|vllm|sglang|standin/.test(path.basename(word)));
  const child = spawn(words[program], words.slice(program + 1), {
    stdio: 'inherit',
    env: { ...process.env, STANDIN_REPORT: report },
  });
  // It stops collecting, lets its program end, and writes what there is.
  process.on('SIGINT', () => child.kill('SIGINT'));
  child.on('close', status => {
    if (fs.existsSync(`${report}.part`)) fs.renameSync(`${report}.part`, report);
    process.exit(status ?? 1);
  });
}

async function exportTo(file: string, steps: readonly RecordedStep[]): Promise<void> {
  // Only where it is needed: it takes longer to load than the engine takes to start.
  const { default: initSqlJs } = await import('sql.js');
  const SQL = await initSqlJs();
  const database = new SQL.Database();
  database.run(`
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER,
      textId INTEGER, domainId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
      correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
      streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
      gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);`);
  const thread = 0x1000001;
  for (const [at, { iteration, context, generation }] of steps.entries()) {
    const start = 1e6 * (at + 1);
    const name = `[Executor] _forward_step ${iteration}: ${context} ctx reqs, ${generation} gen reqs`;
    database.run('INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, NULL, 0)', [
      start,
      start + 8e5,
      name,
      thread,
    ]);
    database.run('INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 2, 0)', [
      ...[start + 1e4, start + 2e4, thread, at + 1],
    ]);
    database.run(
      'INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, ?, 1, 1, 8, 1, 1, 128, 1, 1)',
      [...[start + 1e5, start + 7e5, at + 1, 0x1000000]],
    );
  }
  fs.writeFileSync(file, database.export());
}

// --- the engine --------------------------------------------------------------------------------------------------

interface Request {
  readonly response: http.ServerResponse;
  readonly stream: boolean;
  readonly tokens: number;
  readonly promptTokens: number;
  done: number;
}

interface Window {
  readonly first: number;
  /** The step that is no longer recorded. */
  readonly end: number;
  readonly writes: (steps: readonly RecordedStep[]) => void;
}

class Engine {
  iteration = 0;
  /** As it reports it. */
  reported = 0;
  running: Request[] = [];
  waiting: Request[] = [];
  totalTokens = 0;
  totalPrompts = 0;
  steps = 0;
  last: RecordedStep = { iteration: 0, context: 0, generation: 0 };
  private window: Window | undefined;
  private recorded: RecordedStep[] = [];
  onStep: () => void = () => {};

  open(window: Window): void {
    this.window = window;
    this.recorded = [];
  }

  close(): void {
    const { window } = this;
    this.window = undefined;
    if (window && this.recorded.length > 0) window.writes(this.recorded);
  }

  get isRecording(): boolean {
    return this.window !== undefined;
  }

  step(): void {
    if (this.iteration >= lieAt('hangs')) return;
    if (this.iteration >= lieAt('dies')) {
      console.error('RuntimeError: CUDA error: an illegal memory access was encountered');
      process.exit(1);
    }
    const { window } = this;
    if (window && this.iteration >= window.end) this.close();
    const admitted = this.waiting.splice(0, MOST_BATCH - this.running.length);
    this.running.push(...admitted);
    if (this.running.length === 0) return;
    const [context, generation] = [admitted.length, this.running.length - admitted.length];
    this.last = { iteration: this.iteration, context, generation };
    if (window && this.iteration >= window.first && this.iteration < window.end) {
      this.recorded.push(this.last);
      // What nsys would have of it if the program ended now.
      if (STANDIN_REPORT) fs.writeFileSync(`${STANDIN_REPORT}.part`, MAGIC + JSON.stringify(this.recorded));
    }
    this.totalPrompts += admitted.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    this.totalTokens += generation + admitted.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    this.steps++;
    for (const request of this.running) this.give(request);
    this.running = this.running.filter(({ done, tokens }) => done < tokens);
    this.reported =
      this.iteration >= lieAt('back')
        ? this.iteration - lieAt('back')
        : Math.min(this.iteration, lieAt('frozen'));
    this.onStep();
    this.iteration++;
  }

  private give(request: Request): void {
    request.done = lies.has('early') && request.done > 1 ? request.tokens : request.done + 1;
    const { response, stream, tokens, done, promptTokens } = request;
    const usage = { prompt_tokens: promptTokens, completion_tokens: done };
    const end = done >= tokens ? 'length' : null;
    if (stream) {
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, text: 'a', finish_reason: end }] })}\n\n`,
      );
      if (end) response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
    } else if (end) response.end(JSON.stringify({ choices: [{ text: 'a', finish_reason: end }], usage }));
  }
}

const owners: Readonly<Record<string, string>> = { trtllm: 'tensorrt_llm', vllm: 'vllm', sglang: 'sglang' };

function wordAfter(words: readonly string[], name: string): string | undefined {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
}

function serve(kind: string, words: readonly string[]): void {
  const engine = new Engine();
  const settings = wordAfter(words, '--extra_llm_api_options');
  const config = settings === undefined ? '' : fs.readFileSync(settings, 'utf8');
  const logs = /print_iter_log: true/.test(config);
  engine.onStep = () => logLine(kind, engine, logs);
  const span = /^(\d+)-(\d+)$/.exec(process.env.TLLM_PROFILE_START_STOP ?? '');
  // Up to 1.2 the end is included.
  if (span && !lies.has('no-window'))
    engine.open({ first: Number(span[1]), end: Number(span[2]) + 1, writes: writeReport });
  const server = http.createServer((request, response) => {
    let text = '';
    request.on('data', chunk => void (text += String(chunk)));
    request.on('end', () => {
      const body = text === '' ? {} : JSON.parse(text);
      if (request.method === 'POST' && STANDIN_CALLS && !request.url?.startsWith('/v1/'))
        fs.appendFileSync(STANDIN_CALLS, `${request.url} ${text}\n`);
      answer(kind, engine, request.url ?? '', body, response, words);
    });
  });
  server.listen(Number(wordAfter(words, '--port')), '127.0.0.1');
  console.log('loading weights');
  if (isBalanced) console.log('Precomputing perfect router logits');
  setInterval(() => engine.step(), STEP_MS);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (signal === 'SIGINT' && STANDIN_REPORT) engine.close();
      process.exit(0);
    });
}

function writeReport(steps: readonly RecordedStep[]): void {
  if (!STANDIN_REPORT) return;
  fs.rmSync(`${STANDIN_REPORT}.part`, { force: true });
  fs.writeFileSync(STANDIN_REPORT, MAGIC + JSON.stringify(steps));
}

/** What the engines' own profiler writes: one marker and one kernel per step. */
function writeTrace(kind: string, folder: string, steps: readonly RecordedStep[]): void {
  const events = steps.flatMap(({ iteration, context, generation }, at) => {
    const ts = 1000 * (at + 1);
    const common = { ph: 'X', pid: 1, tid: 1 };
    const external = { 'External id': at + 1, correlation: at + 1 };
    return [
      {
        ...common,
        ...{ cat: 'user_annotation', ts, dur: 800, args: { iteration } },
        name:
          kind === 'vllm'
            ? `execute_context_${context}(${context * 8})_generation_${generation}(${generation})`
            : context > 0
              ? `step[EXTEND bs=${context} toks=${context * 8}]`
              : `step[DECODE bs=${generation}]`,
      },
      { ...common, cat: 'cuda_runtime', name: 'cudaLaunchKernel', ts: ts + 10, dur: 5, args: external },
      {
        ...{ ph: 'X', pid: 0, tid: 7, cat: 'kernel', name: 'gemm', ts: ts + 100, dur: 600 },
        args: { ...external, device: 0, stream: 7 },
      },
    ];
  });
  fs.mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ schemaVersion: 1, deviceProperties: [], traceEvents: events });
  const name = kind === 'vllm' ? `rank0.${Date.now()}.pt` : `${Date.now() / 1000}-TP-0`;
  fs.writeFileSync(path.join(folder, `${name}.trace.json.gz`), gzipSync(text));
}

function logLine(kind: string, engine: Engine, logs: boolean): void {
  const { context, generation } = engine.last;
  if (kind === 'trtllm' && logs)
    console.log(
      `[TRT-LLM] [I] iter = ${engine.reported}, global_rank = 0, rank = 0, currank_total_requests = 0/8, host_step_time = 1.2ms, prev_device_step_time = N/A, timestamp = 2026-01-01 00:00:00, num_scheduled_requests: ${context + generation}, states = {'num_ctx_requests': ${context}, 'num_ctx_tokens': ${context * 8}, 'num_generation_tokens': ${generation}}`,
    );
  if (kind === 'sglang' && engine.iteration % 10 === 0)
    console.log(
      `[2026-03-14 04:59:11 TP0] Decode batch [${engine.reported}], #running-req: ${engine.running.length}, #token: 99, token usage: 0.07, cuda graph: True, gen throughput (token/s): 1806.57, #queue-req: ${engine.waiting.length}`,
    );
}

function answer(
  kind: string,
  engine: Engine,
  url: string,
  body: Record<string, unknown>,
  response: http.ServerResponse,
  words: readonly string[],
): void {
  const json = (value: unknown) => response.end(JSON.stringify(value));
  const fail = (status: number, message: string) => {
    response.statusCode = status;
    json({ error: { message } });
  };
  if (url === '/health') response.end();
  else if (url === '/v1/models') json({ data: [{ id: 'm', owned_by: owners[kind] }] });
  else if (url === '/metrics') metrics(kind, engine, response, words);
  else if (url === '/v1/completions') {
    if (engine.iteration >= lieAt('errors')) return void fail(500, 'out of KV cache blocks');
    const stream = body.stream === true;
    if (stream) response.setHeader('content-type', 'text/event-stream');
    const promptTokens = String(body.prompt).split(' ').length;
    // A client that hangs up takes its request with it.
    response.on('close', () => {
      engine.running = engine.running.filter(one => one.response !== response);
      engine.waiting = engine.waiting.filter(one => one.response !== response);
    });
    engine.waiting.push({ response, stream, tokens: Number(body.max_tokens), promptTokens, done: 0 });
  } else if (url === '/start_profile') {
    const first = engine.iteration + 1;
    const config = JSON.parse(wordAfter(words, '--profiler-config') ?? '{}');
    const steps = Number(body.num_steps ?? body.max_iterations ?? config.max_iterations ?? Infinity);
    // vllm/profiler/wrapper.py: before the step of this number, counted from 1.
    const delay = Number(body.delay_iterations ?? config.delay_iterations ?? 0);
    const from =
      kind === 'sglang'
        ? Number(body.start_step ?? first)
        : kind === 'vllm'
          ? engine.iteration + Math.max(0, delay - 1)
          : first;
    const folder = String((kind === 'vllm' ? config.torch_profiler_dir : body.output_dir) ?? '');
    engine.open({
      first: from,
      end: from + steps,
      writes: folder ? recorded => writeTrace(kind, folder, recorded) : writeReport,
    });
    response.end();
  } else if (url === '/stop_profile') {
    if (kind !== 'vllm' && !engine.isRecording) return void fail(500, 'profiling is not in progress');
    engine.close();
    response.end();
  } else if (kind === 'vllm' && url === '/version')
    json({ version: process.env.STANDIN_VERSION ?? '0.16.0' });
  else fail(404, 'not found');
}

function metrics(
  kind: string,
  engine: Engine,
  response: http.ServerResponse,
  words: readonly string[],
): void {
  if (lies.has('html')) return void response.end('<!doctype html><title>Gateway</title>');
  const { running, waiting, reported, last } = engine;
  if (kind === 'trtllm') {
    const stats = {
      ...{ iter: reported, numActiveRequests: running.length, numQueuedRequests: waiting.length },
      kvCacheStats: { usedNumBlocks: running.length, maxNumBlocks: 100 },
      inflightBatchingStats: {
        ...{ numContextRequests: last.context, numScheduledRequests: last.context + last.generation },
      },
    };
    return void response.end(process.env.STANDIN_ITER_STATS ? JSON.stringify([stats]) : '[]');
  }
  const of = (name: string, value: number) => `${name}{engine="0",model_name="m"} ${value}\n`;
  if (kind === 'vllm')
    return void response.end(
      of('vllm:num_requests_running', running.length) +
        of('vllm:num_requests_waiting', waiting.length) +
        of('vllm:kv_cache_usage_perc', running.length / 100) +
        of('vllm:prompt_tokens_total', engine.totalPrompts) +
        of('vllm:iteration_tokens_total_sum', engine.totalTokens) +
        of('vllm:iteration_tokens_total_count', reported + 1),
    );
  if (!words.includes('--enable-metrics')) {
    response.statusCode = 404;
    return void response.end();
  }
  response.end(of('sglang:num_running_reqs', running.length) + of('sglang:num_queue_reqs', waiting.length));
}

const [role, ...rest] = process.argv.slice(2);
if (role === 'nsys') await nsys(rest);
else if (role in owners) serve(role, rest);
