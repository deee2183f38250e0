/** `capture --attach`: a server that runs already. Its traces lie in the folder it was told of, or was started with. */
import { UserError } from '../../base/user-error.js';
import type { CaptureOptions, CapturePlan } from '../../capture/capture-plan.js';
import { type AttachQuestion, closesItself, planAttach } from '../../capture/plan-attach.js';
import { attachServer } from '../../capture/run/run-server.js';
import { engineOf, type LoadLevels, versionOf } from '../../capture/run/server-calls.js';
import { parseVersion } from '../../capture/versions.js';
import { demandOf, loadShape } from '../../capture/window-goal.js';
import { presets } from '../../catalog/engine-programs.js';
import { engineLabelled } from '../../catalog/engines.js';
import type { Output } from '../output.js';
import { captureLines } from './capture-lines.js';
import { type CaptureValues, isFar } from './capture-question.js';
import { addressed, demandedSteps, healthTimeout, judgeAndShow, loadOf, windowOf } from './run-capture.js';

/** What can be said without asking the server. */
export function attachQuestion(values: CaptureValues, asked: CaptureOptions): AttachQuestion {
  if (values.server === undefined && !isFar(values))
    throw new UserError(
      'usage',
      '--attach needs the URL of the server.',
      'For example: --attach --server http://localhost:8000, or --attach --pod NAME',
    );
  const { torchTrace: folder, torchShapes, torchStack, preset } = values;
  const demand = demandOf(asked);
  return {
    ...(demand ? { demand } : {}),
    shape: loadShape(asked),
    // On another machine the port is read from its processes; a plan that is only shown has the usual one.
    url: addressed(values.server ?? `http://localhost:${presets[preset ?? 'python'].port}`),
    ...(folder === undefined ? {} : { folder }),
    ...(asked.iterations ? { spans: asked.iterations } : {}),
    ...(preset === undefined ? {} : { engine: presets[preset].engine }),
    ...(values.engineVersion === undefined ? {} : { version: parseVersion(values.engineVersion) }),
    torchShapes,
    torchStack,
  };
}

export async function runAttached(
  asked: CaptureOptions,
  values: CaptureValues,
  output: Output,
  check: (plan: CapturePlan) => void,
): Promise<number> {
  const question = await withEngine(attachQuestion(values, asked));
  const plan = planAttach(question);
  check(plan);
  const lines = captureLines(output, undefined);
  const written = await attachServer(plan.steps, plan.outputs, {
    url: question.url,
    load: question.demand && values.sent === 0 ? nobody : loadOf(values, output),
    onNotice: lines.onNotice,
    onProgress: lines.onProgress,
    closesItself: closesItself(question),
    ...healthTimeout(values),
  });
  const files = written.filter(({ bytes }) => bytes > 0).map(({ path: file }) => file);
  const window = windowOf(asked);
  if (files.length > 0)
    return judgeAndShow(
      files,
      {
        ...{ command: [], nsysAt: -1, env: {}, ...demandedSteps(asked) },
        ...(window ? { window, windows: asked.iterations } : {}),
      },
      output,
    );
  output.err(
    'stepscope: the traces are in the folder the server writes to; open them with stepscope analyze FOLDER\n',
  );
  return 0;
}

/** `--requests 0`: the requests of others are what is profiled. */
export const nobody: LoadLevels = {
  run: async () => {},
  drive: (_, __, { signal }) =>
    new Promise(resolve => {
      const end = () => resolve(undefined);
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    }),
  isOthers: true,
};

/** Asked where the steps of a request depend on it. */
async function withVersion(question: AttachQuestion): Promise<AttachQuestion> {
  const matters = (question.spans ?? question.demand) && question.engine?.stepsInRequest?.since;
  if (!matters || question.version) return question;
  const version = parseVersion((await versionOf(question.url, new AbortController().signal)) ?? '');
  return version ? { ...question, version } : question;
}

/** Only where it matters: a server that does not list its models can still be profiled from start to stop. */
export async function withEngine(question: AttachQuestion): Promise<AttachQuestion> {
  if (question.engine) return withVersion(question);
  const engine = engineLabelled((await engineOf(question.url, new AbortController().signal)) ?? '');
  if (engine) return withVersion({ ...question, engine });
  if (!question.spans) return question;
  throw new UserError(
    'usage',
    'The server does not name its engine in /v1/models: whether it counts steps is not known.',
    'Name the engine with --preset sglang or --preset trtllm-serve, or remove --iterations.',
  );
}
