/** Profiles with secrets planted in every place where real ones hide them. */
import type { Database } from 'sql.js';
import { fillExport, insert, makeDatabase } from './small-exports.js';

/** Each stands in the input, and nowhere in the copy. */
export const exportSecrets = [
  'hf_plantedplantedplantedplanted',
  'planted-password-1',
  'planted-in-a-long-block',
  'node-q17.planted.example',
  'node-q17',
  'alicia_q',
  '/home/alicia_q/private/model',
  'private/model',
  '--planted-flag',
  'planted-argument',
  'planted output of the process',
  'planted-other-process',
  'planted-idle-thread',
  'planted-unnamed-string',
  'planted-binary',
  'planted-deleted-row',
  'planted-dropped-table',
  'planted-before-update',
  'planted-long-before-update',
  'planted-view',
  '10.20.30.40',
  'fe80::1234:5678:9abc:def0',
  '02:42:ac:11:00:02',
  'ef5ab184-31a3-2a82-74f4-b40fa2adcedb',
  'someone@planted.example',
  'planted-url-password',
  'planted_dir',
  'planted-remote',
  'planted-in-a-number',
];

const PROCESS = 77 * 2 ** 24;

export async function plantedExport(
  pageSize: number,
  more?: (database: Database) => void,
): Promise<Uint8Array> {
  return makeDatabase(pageSize, database => {
    fillExport(database);
    plant(database);
    more?.(database);
  });
}

function plant(database: Database): void {
  database.run(`
    PRAGMA secure_delete = OFF;
    CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
    CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, value TEXT);
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
    CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER);
    CREATE TABLE ANALYSIS_FILE (id INTEGER, filename TEXT, content TEXT, globalPid INTEGER);
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);
    CREATE TABLE OSRT_CALLCHAINS (id INTEGER NOT NULL, symbol INTEGER, module INTEGER, stackDepth INTEGER NOT NULL,
      PRIMARY KEY (id, stackDepth));
    CREATE TABLE NV_NUMBERS (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE NV_PAYLOADS (id INTEGER PRIMARY KEY, data BLOB, uuid TEXT);
    CREATE INDEX byValue ON StringIds (value);
    CREATE VIEW seen AS SELECT 'planted-view' AS text;
    CREATE TABLE NV_SCRATCH (text TEXT);
    CREATE TABLE dropped (text TEXT);
  `);
  const block = `HF_TOKEN=hf_plantedplantedplantedplanted\0PASSWORD=planted-password-1\0HOME=/home/alicia_q\0TLLM_PROFILE_START_STOP=100-150\0LONG=${'planted-in-a-long-block '.repeat(3000)}\0`;
  insert(database, 'StringIds', [
    [1000, block],
    [1001, `planted output of the process\n${'line\n'.repeat(5000)}`],
    [1002, '/tmp/planted_dir/streams/stdout.log'],
    [1003, 'planted-idle-thread'],
    [1004, 'planted-unnamed-string'],
    [1005, '/home/alicia_q/private/model/lib.so'],
    [1006, 'python3'],
    [1007, 'load /home/alicia_q/private/model/weights.bin on node-q17'],
    [1008, 'main_function(int)'],
  ]);
  insert(database, 'META_DATA_CAPTURE', [
    ['ENVIRONMENT_VARIABLE', 'HF_TOKEN=hf_plantedplantedplantedplanted'],
    ['PROCESS_0:ENVIRONMENT_VARIABLE', 'USER=alicia_q'],
    ['PROCESS_0:COMMAND', '/home/alicia_q/private/model/run.py'],
    ['PROCESS_0:ARGUMENT_0', '--planted-flag'],
    ['PROCESS_0:ARGUMENT_1', 'planted-argument'],
    ['PROCESS_0:WORKING_DIR', '/home/alicia_q/private/model'],
    ['PROCESS_0:USER_NAME', 'alicia_q'],
    ['CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node'],
    ['RUN_DURATION_MS', '500'],
    ['SOMETHING_NEW', 'planted-argument'],
  ]);
  insert(database, 'META_DATA_EXPORT', [
    ['EXPORT_HOST', 'node-q17.planted.example'],
    ['EXPORT_USER', 'alicia_q'],
    ['EXPORT_PARAM_INPUT_PATH_ABS', '/home/alicia_q/private/model/report.nsys-rep'],
  ]);
  insert(database, 'TARGET_INFO_SYSTEM_ENV', [
    [0, 'Local', 'Hostname', 'node-q17.planted.example'],
    [0, 'Local', 'DeviceEnvironment', block],
    [0, 'someone@planted-remote', 'OsDescription', 'Ubuntu 24.04.3 LTS'],
    [0, 'Local', 'NvDriverVersion', '580.105.08'],
  ]);
  insert(database, 'PROCESSES', [
    [PROCESS, 77, '/home/alicia_q/private/model/bin/python3'],
    [PROCESS * 2, 154, 'planted-other-process'],
  ]);
  insert(database, 'ThreadNames', [
    [1006, 0, PROCESS + 78],
    [1003, 0, PROCESS * 2 + 1],
  ]);
  insert(database, 'ProcessStreams', [[PROCESS, 1002, 1001]]);
  insert(database, 'ANALYSIS_FILE', [
    [0, '/tmp/planted_dir/stdout.log', 'planted output of the process', PROCESS],
  ]);
  insert(database, 'DIAGNOSTIC_EVENT', [
    [1, 2, 'see /tmp/planted_dir/log.txt on node-q17 for alicia_q'],
    [2, 3, 'no answer from 10.20.30.40:8080, [fe80::1234:5678:9abc:def0] or 02:42:ac:11:00:02'],
    [3, 2, 'ask someone@planted.example or https://bot:planted-url-password@git.planted.example/x'],
    [4, 3, 'events were dropped, see /proc/sys/kernel/perf_event_paranoid'],
  ]);
  const chains = Array.from({ length: 4000 }, (_, i) => [i >> 3, 1008, 1005, i & 7]);
  insert(database, 'OSRT_CALLCHAINS', chains);
  insert(
    database,
    'NV_NUMBERS',
    chains.map(([id, , , depth]) => [id, depth]),
  );
  insert(database, 'NV_PAYLOADS', [
    [1, new TextEncoder().encode('planted-binary'), 'ef5ab184-31a3-2a82-74f4-b40fa2adcedb'],
    [2, new TextEncoder().encode('planted-binary'.repeat(2000)), null],
  ]);
  database.run(`
    INSERT INTO ThreadNames VALUES (1006, 'see /opt/planted-in-a-number/x', ${PROCESS + 78});
    INSERT INTO NVTX_EVENTS VALUES (1000000000, 1000000900, 59, NULL, ${PROCESS + 78}, 1007, 0, 1, NULL);
    INSERT INTO NVTX_EVENTS VALUES (1000000000, 1000000900, 59, 'open /home/alicia_q/private/model/x.bin',
      ${PROCESS + 78}, NULL, 0, 1, NULL);
    INSERT INTO NVTX_EVENTS VALUES (1000000000, 1000000900, 59, '[Executor] _forward_step 3: 0 ctx reqs, 8 gen reqs',
      ${PROCESS + 78}, NULL, 0, 1, NULL);
    INSERT INTO NVTX_EVENTS VALUES (1000000000, 1000000800, 59, 'model.layers.3.self_attn', ${PROCESS + 78}, NULL, 0, 1, NULL);
    INSERT INTO NVTX_EVENTS VALUES (1000000000, 1000000700, 59, 'my stage', ${PROCESS + 78}, NULL, 0, 1, NULL);
  `);
  // What rows leave behind: freed cells, shorter values in longer places, whole free pages, chains cut short.
  insert(
    database,
    'NV_SCRATCH',
    Array.from({ length: 400 }, (_, i) => [i % 2 === 0 ? `keep ${i}` : `planted-deleted-row ${i}`]),
  );
  insert(database, 'NV_SCRATCH', [
    [`short ${'planted-before-update '.repeat(4)}`],
    [`long ${'planted-long-before-update '.repeat(4000)}`],
  ]);
  database.run("DELETE FROM NV_SCRATCH WHERE text LIKE 'planted-deleted%'");
  database.run("UPDATE NV_SCRATCH SET text = 'short' WHERE text LIKE 'short%'");
  database.run("UPDATE NV_SCRATCH SET text = 'long' WHERE text LIKE 'long%'");
  insert(
    database,
    'dropped',
    Array.from({ length: 500 }, (_, i) => [`planted-dropped-table ${i}`]),
  );
  database.run('DROP TABLE dropped');
}

export const traceSecrets = [
  'hf_plantedplantedplantedplanted',
  'planted-password-1',
  'node-q17.planted.example',
  'node-q17',
  'alicia_q',
  '/home/alicia_q',
  'private/model',
  'planted_dir',
  'planted-job',
  'planted-command',
  'planted-env-value',
  'planted-key',
  '10.20.30.40',
  '02:42:ac:11:00:02',
  'planted-input',
];

const home = '/home/alicia_q/private/model';

/** Events of every kind whose texts differ in what may stay. */
export const traceEvents: readonly Record<string, unknown>[] = [
  { ph: 'M', name: 'process_name', pid: 7, tid: 0, ts: 0, args: { name: `${home}/bin/python3` } },
  { ph: 'M', name: 'thread_name', pid: 7, tid: 8, ts: 0, args: { name: 'thread 8 (worker of alicia_q)' } },
  x('python_function', `${home}/net.py(12): forward`, 1000, 900, { 'Python id': 1 }),
  x('python_function', 'C:\\Users\\alicia_q\\private\\net.py(3): run', 1000, 890),
  x('python_function', 'python/sglang/srt/managers/scheduler.py(9): run_batch', 1000, 880),
  x('user_annotation', 'step[DECODE bs=8]', 1000, 800),
  x('user_annotation', `load ${home}/weights.bin`, 1000, 10),
  x('user_annotation', 'my stage', 1010, 10),
  x('user_annotation', 'model.layers.3.self_attn', 1020, 10),
  x('cpu_op', 'aten::mm', 1030, 20, {
    'External id': 5,
    'Call stack': `${home}/net.py(12): forward;${home}/a b/main.py(3): <module>;torch/nn/module.py(9): __call__`,
    'Concrete Inputs': ['', '/data/planted_dir/planted-input/x', '3'],
    kernel_file: '/tmp/torchinductor_alicia_q/ab/kernel.py',
    environ: { SOME: 'planted-env-value' },
    api_key: 'planted-key',
    num_tokens: '128',
    note: 'from 10.20.30.40 or 02:42:ac:11:00:02',
  }),
  x('cuda_runtime', 'cudaLaunchKernel', 1040, 5, { correlation: 11 }),
  x('kernel', 'void gemm<int, (anonymous namespace)::F>(float*)', 1060, 50, {
    device: 0,
    context: 1,
    stream: 7,
    correlation: 11,
    grid: [1, 1, 1],
    block: [128, 1, 1],
  }),
  x('cpu_op', 'caf\u00e9 \u65e5\u672c "quoted" \\ back', 1100, 20),
];

function x(
  cat: string,
  name: string,
  ts: number,
  dur: number,
  args: Record<string, unknown> = {},
): Record<string, unknown> {
  const onGpu = cat === 'kernel';
  return { ph: 'X', cat, name, pid: onGpu ? 0 : 7, tid: onGpu ? 7 : 8, ts, dur, args };
}

export const traceMetadata = {
  schemaVersion: 1,
  deviceProperties: [{ id: 0, name: 'NVIDIA H200', totalGlobalMem: 150109880320, numSms: 132 }],
  host_name: 'node-q17.planted.example',
  username: 'alicia_q',
  job: { name: 'planted-job' },
  environ: { HF_TOKEN: 'hf_plantedplantedplantedplanted', OTHER: 'planted-env-value' },
  PASSWORD: 'planted-password-1',
  command: ['planted-command', '--x'],
  INFO: ['profiler on node-q17 wrote /tmp/planted_dir/x.json'],
  some_number: 12,
  distributedInfo: { backend: 'nccl', rank: 0, world_size: 2, master: '10.20.30.40' },
  baseTimeNanoseconds: 1790857026000000000,
};

/** Metadata in front of the events and behind them, as profilers write it. */
export function plantedTrace(space = 1): string {
  const { host_name, username, ...front } = traceMetadata;
  const text = JSON.stringify(
    { ...front, traceEvents: traceEvents, host_name, username, traceName: `${home}/node-q17_7.json` },
    undefined,
    space,
  );
  // JSON.stringify rounds it.
  return text.replace('1790857026000000000', '1790857026000000001');
}
