/**
 * A server that runs already, profiled through its own endpoints. Nothing is started or stopped here: the plan is the
 * requests. SGLang counts `start_step` from server start and starts at once if it has passed
 * (srt/managers/scheduler_profiler_mixin.py). TensorRT-LLM mirrors the request but counts from it
 * (_torch/pyexecutor, TensorRT-LLM#13872). vLLM takes `delay_iterations` and `max_iterations` from 0.32 on and ignores
 * them before (vllm/entrypoints/serve/profile/api_router.py), so its version is asked first.
 *
 * SGLang's `profile_by_stage` is not requested for --phase (scheduler_components/profiler_manager.py, 0.5.17): its trace
 * of decode begins with the first decode step of any request and holds the prefill of all later ones, a decode step
 * before the first prefill starts its profiler twice, and it cannot be called off. `merge_profiles` neither: the first
 * rank merges while the server stands still, and files of ranks open as one run anyway.
 */
import { type PresetName, presetNames, presets } from '../catalog/engine-programs.js';
import { type Engine, engines } from '../catalog/engines.js';
import type { CapturePlan, IterationSpan, PlanStep, RequestShape, WindowGoal } from './capture-plan.js';
import { PartBuilder } from './engine-part.js';
import { countIterations, delayToSkip } from './iterations.js';
import { formatVersion, isAtLeast, type VersionNumbers } from './versions.js';
import { goalWords, type WindowDemand } from './window-goal.js';

export interface AttachQuestion {
  readonly url: string;
  /** Where the engine shall write its traces, or was told to. */
  readonly folder?: string;
  readonly spans?: readonly IterationSpan[];
  /** Absent where the server has not been asked. */
  readonly engine?: Engine;
  /** Of the engine, where the server or the user named it. */
  readonly version?: VersionNumbers;
  readonly torchShapes?: boolean;
  readonly torchStack?: boolean;
  /** Instead of numbers. */
  readonly demand?: WindowDemand;
  /** What to send; absent where the user decides. */
  readonly shape?: RequestShape;
}

const READY_TIMEOUT_S = 30;

export function planAttach(question: AttachQuestion): CapturePlan {
  const { url, folder, engine, demand, shape } = question;
  const part = new PartBuilder();
  const at = (place: string) => new URL(place, url).href;
  const body = requestBody(question);
  if (demand && shape) part.load(demand.goal, shape, goalWords(demand.goal));
  part.post(at('/start_profile'), 'profiling starts', Object.keys(body).length > 0 ? body : undefined);
  const goal = closingGoal(question);
  if (goal && shape) part.load(goal, shape, 'until these steps are done');
  else part.steps.push({ do: 'load', why: 'to profile' });
  part.post(at('/stop_profile'), 'profiling stops; the engine writes its traces');
  warnAboutSteps(part, question);
  const steps: PlanStep[] = [{ do: 'wait-http', url, timeoutS: READY_TIMEOUT_S }, ...part.steps];
  return {
    preset: presetOf(engine),
    engine: engine?.label ?? 'not known',
    profiler: 'torch',
    server: true,
    command: [],
    nsysAt: -1,
    programAt: 0,
    env: {},
    exitCodes: [0],
    outputs: folder === undefined ? [] : [{ kind: 'torch-trace', pattern: folder }],
    steps,
    why: [],
    warnings: part.warnings,
    estimate: {
      ...{ bytes: 0, reportBytes: 0, sqliteBytes: 0, temporaryBytes: 0, overheadShare: 0 },
      how: ['not estimated: the engine writes its own traces'],
    },
  };
}

/** Does the engine stop by itself after the steps of the request? */
export const closesItself = (question: AttachQuestion): boolean =>
  (question.spans ?? question.demand) !== undefined && stepFields(question) !== undefined;

/** How this release names the steps of a request; undefined where it takes none. */
function stepFields({ engine, version }: AttachQuestion): Engine['stepsInRequest'] {
  const fields = engine === undefined ? engines.sglang.stepsInRequest : engine.stepsInRequest;
  if (fields?.since === undefined) return fields;
  // An older one would ignore the fields and record everything, so an unknown version is taken for one.
  return version !== undefined && isAtLeast(version, ...fields.since) ? fields : undefined;
}

function requestBody(question: AttachQuestion): Record<string, unknown> {
  const { folder, spans, demand, engine, ...torch } = question;
  const fields = stepFields(question);
  // Newer versions stop by themselves then; older ones ignore it and are stopped.
  if (demand && !fields && engine === engines.vllm) return { max_iterations: demand.steps };
  if (!fields || (engine === undefined && spans === undefined))
    return engine === undefined && folder !== undefined ? { output_dir: folder } : {};
  const [span] = spans ?? [];
  return {
    ...(folder === undefined || !fields.takesFolder ? {} : { output_dir: folder }),
    ...(fields.takesFolder ? { activities: ['CPU', 'GPU'] } : {}),
    ...(engine === engines.sglang && torch.torchStack ? { with_stack: true } : {}),
    ...(engine === engines.sglang && torch.torchShapes ? { record_shapes: true } : {}),
    // A first step of zero means none to SGLang, and is the default of the others.
    ...(span && span.first > 0
      ? { [fields.first]: fields.numbersFromOne ? delayToSkip(span.first) : span.first }
      : {}),
    ...(span ? { [fields.count]: countIterations([span]) } : {}),
    ...(demand ? { [fields.count]: demand.steps } : {}),
  };
}

/** When the steps asked for are done; undefined where the load decides. */
function closingGoal(question: AttachQuestion): WindowGoal | undefined {
  const { demand, spans } = question;
  if (demand) return { steps: demand.steps };
  const fields = stepFields(question);
  if (!spans || !fields) return undefined;
  const [{ last }] = spans;
  return fields.countedFrom === 'server start' ? { iteration: last } : { steps: last + 1 };
}

function warnAboutSteps(part: PartBuilder, question: AttachQuestion): void {
  const { spans, engine, torchShapes, torchStack } = question;
  if ((torchShapes || torchStack) && engine && engine !== engines.sglang)
    part.warn(
      'warning',
      'torch-options-at-start',
      `${engine.label} does not take --torch-shapes and --torch-stack with /start_profile: they have no effect here.`,
      'Set them when the server starts.',
    );
  if (!spans) return;
  if (spans.length > 1)
    part.warn(
      'error',
      'one-range',
      'A server records one range per /start_profile: this plan uses the first.',
      'Give one range, or run one capture per range.',
    );
  const [{ first }] = spans;
  const counted = countIterations(spans.slice(0, 1));
  if (engine === undefined)
    part.warn(
      'note',
      'engine-not-asked',
      `The server is asked for its engine first. ${engines.sglang.label} and ${engines.trtllm.label} take these steps, and ${engines.vllm.label} from 0.32 on; an older one does not, and the capture is then rejected.`,
      'Name the engine with --preset to see its plan.',
    );
  else if (stepFields(question)?.countedFrom === 'server start')
    part.warn(
      'note',
      'steps-from-server-start',
      `${engine.label} counts forward passes from server start; if step ${first} has already passed, recording starts at once.`,
      'For the next steps of a server that has been running, give 0-N.',
    );
  else if (stepFields(question))
    part.warn(
      'note',
      'iterations-from-start',
      `${engine.label} counts iterations from /start_profile, not from server start.`,
      `${first}-${first + counted - 1} skips ${first} iterations after the request.`,
    );
  else
    part.warn(
      'error',
      'iterations-not-counted',
      engine === engines.vllm
        ? `${engine.label} takes steps with /start_profile from 0.32 on, and ${question.version ? `this is ${formatVersion(question.version)}` : 'this version is not known'}: --iterations cannot be requested from this server.`
        : `${engine.label} does not take steps with /start_profile: --iterations cannot be requested from a running server.`,
      engine === engines.vllm
        ? `Start the server with --profiler-config '{"profiler":"torch","torch_profiler_dir":"DIR","delay_iterations":${delayToSkip(first)},"max_iterations":${counted}}', or remove --iterations.`
        : 'Remove --iterations: the window then lasts from /start_profile to /stop_profile.',
    );
}

const presetOf = (engine: Engine | undefined): PresetName =>
  presetNames.findLast(name => presets[name].engine === engine) ?? 'python';
