/** `capture --attach --pod` and `--ssh`: a server that runs there. Looks at its processes, and says why if nothing can be done. */
import * as path from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions, CapturePlan } from '../../capture/capture-plan.js';
import { closesItself, planAttach } from '../../capture/plan-attach.js';
import { attachFar, processesIn } from '../../capture/run/attach-far.js';
import { openStore } from '../../capture/run/store-results.js';
import type { Transport } from '../../capture/run/transport.js';
import { openTunnel } from '../../capture/run/tunnel.js';
import { findServer, type ServingProcess, type WayIn, wayInto } from '../../capture/running-server.js';
import { loadSteps } from '../../capture/serving-steps.js';
import { demandOf } from '../../capture/window-goal.js';
import { presets } from '../../catalog/engine-programs.js';
import { restartToProfile } from '../../catalog/how-to-record.js';
import type { Output } from '../output.js';
import { captureLines } from './capture-lines.js';
import type { CaptureValues } from './capture-question.js';
import { attachQuestion, nobody, withEngine } from './run-attached.js';
import { demandedSteps, judgeAndShow, loadOf, windowOf } from './run-capture.js';

export async function runAttachedFar(
  far: Transport,
  asked: CaptureOptions,
  values: CaptureValues,
  output: Output,
  check: (plan: CapturePlan) => void,
): Promise<number> {
  const store = values.store === undefined ? undefined : openStore(values.store);
  const processes = await processesIn(far);
  const server = findServer(processes, values.preset, namedPort(values));
  const way: WayIn = server
    ? wayInto(server, processes)
    : values.server === undefined
      ? { by: 'nothing', why: 'no server of a known engine runs there' }
      : { by: 'endpoints' };
  if (way.by === 'nothing')
    throw new UserError(
      'capture-failed',
      `The server in ${far.name} cannot be profiled while it runs: ${way.why}.`,
      server
        ? restartToProfile(server.program.engine.label)
        : 'Name its address inside: --server http://localhost:8000',
    );
  const demand = demandOf(asked);
  if (demand && way.by === 'agent' && way.trigger === undefined)
    throw new UserError(
      'capture-failed',
      `The agent in ${far.name} can only be asked by a signal, which does not say how many steps ${demand.words} records.`,
      'Start the server with STEPSCOPE_TRIGGER=FILE, or record the next steps: remove the option.',
    );
  const port = portOf(values, server);
  const lines = captureLines(output, undefined);
  lines.onNotice(
    `${server ? `${server.program.engine.label} (process ${server.pid})` : 'the server'} at port ${port} of ${far.name}, profiled ${way.by === 'agent' ? 'by the agent inside it' : 'through its endpoints'}`,
  );
  const tunnel = await openTunnel(far, port);
  try {
    const inside = { ...values, server: tunnel.url, preset: values.preset ?? server?.program.preset };
    const question = await withEngine(attachQuestion(inside, asked));
    const local = path.resolve((asked.output ?? 'trace').replace(/\.nsys-rep$/, ''));
    const stepsInto = (folder: string) => planAttach({ ...question, folder: values.torchTrace ?? folder });
    if (way.by === 'endpoints') check(stepsInto('FOLDER'));
    const files = await attachFar(far, {
      way:
        way.by === 'endpoints' && values.torchTrace !== undefined
          ? { ...way, folder: values.torchTrace }
          : way,
      tunnel,
      load: demand && values.sent === 0 ? nobody : loadOf(values, output),
      onProgress: lines.onProgress,
      steps: folder => stepsInto(folder).steps,
      closesItself: closesItself(question),
      ...(demand && way.by === 'agent' && way.trigger !== undefined
        ? { demanded: loadSteps(asked, { STEPSCOPE_TRIGGER: way.trigger }) }
        : {}),
      ...(asked.iterations?.length
        ? { window: asked.iterations.map(({ first, last }) => `${first}-${last}`).join(',') }
        : {}),
      ...(values.timeout === undefined ? {} : { filesTimeoutMs: values.timeout / 1e6 }),
      output: `${local}.nsys-rep`,
      force: asked.force,
      onNotice: lines.onNotice,
    });
    for (const { path: file } of files) output.err(`wrote ${file}\n`);
    await store?.put(
      files.map(({ path: file }) => file),
      (_, where) => output.err(`stored ${where}\n`),
    );
    const window = windowOf(asked);
    return await judgeAndShow(
      files.map(({ path: file }) => file),
      {
        ...{ command: [], nsysAt: -1, env: {}, ...demandedSteps(asked) },
        ...(window ? { window, windows: asked.iterations } : {}),
      },
      output,
    );
  } finally {
    tunnel.close();
  }
}

/** Of the address inside, of the server's own words, or as its engine does by default. */
const portOf = (values: CaptureValues, server: ServingProcess | undefined): number =>
  namedPort(values) ?? server?.port ?? presets[server?.program.preset ?? 'python'].port;

function namedPort({ server: address }: CaptureValues): number | undefined {
  const port = /^(?:https?:\/\/)?[^/:]*:(\d+)/.exec(address ?? '')?.[1];
  return port === undefined ? undefined : Number(port);
}
