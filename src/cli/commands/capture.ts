import { UserError } from '../../base/user-error.js';
import type { CapturePlan } from '../../capture/capture-plan.js';
import { readNsysWords } from '../../capture/nsys-words.js';
import { readPasted } from '../../capture/pasted-command.js';
import { planAttach } from '../../capture/plan-attach.js';
import { planCapture, withWarnings } from '../../capture/plan-capture.js';
import { planDocument } from '../../capture/plan-json.js';
import { planScript } from '../../capture/plan-script.js';
import { explainText, planText } from '../../capture/plan-text.js';
import { pastedWords, shellWords } from '../../capture/shell-words.js';
import {
  askedFor,
  asksForAgent,
  captureOptions,
  factsFor,
  isFar,
  refuseCalibration,
  refuseDemand,
} from '../capture/capture-question.js';
import { askedThere, inEveryPod, restartText, shownThere } from '../capture/far-plan.js';
import { attachQuestion, runAttached } from '../capture/run-attached.js';
import { runAttachedFar } from '../capture/run-attached-far.js';
import { runCapture, transportOf } from '../capture/run-capture.js';
import { runFetch } from '../capture/run-fetch.js';
import { runRestarted } from '../capture/run-restarted.js';
import { define } from '../command.js';
import type { Output } from '../output.js';
import { version } from '../version.js';
import { writeResult } from '../write-result.js';

export const capture = define({
  usage: ['[options] -- COMMAND…'],
  options: captureOptions,
  formats: ['table', 'json'],
  takesProgram: true,
  takesNsysOptions: true,
  notes: [
    [
      'options of nsys profile',
      'are understood as nsys writes them: -t cuda,nvtx, -e VAR=VALUE, --cuda-memory-usage=true',
    ],
    [
      'COMMAND',
      'may begin with variables (VAR=x) and nsys profile …: its flags are taken over and corrected',
    ],
    ['with --json', 'print only the plan; schema: docs/schemas/capture-plan.schema.json'],
  ],
  examples: [
    [
      'stepscope capture --iterations 100-150 --gc --gil -- trtllm-bench --model M throughput --dataset d.txt --warmup 0',
      'the command from the TensorRT-LLM guide, with the profiling range closed correctly',
    ],
    [
      'stepscope capture -- nsys profile -o trace -c cudaProfilerApi trtllm-serve M',
      'a pasted nsys command: corrected, then run',
    ],
    ["stepscope capture --explain 'nsys profile -o trace trtllm-serve M'", 'only judge a pasted command'],
    [
      'stepscope capture --iterations 0-49 -- vllm serve M',
      'a server: started, loaded, profiled through /start_profile and stopped',
    ],
    [
      "stepscope capture --when 'batch>=32' --steps 50 -- vllm serve M",
      'record 50 steps once 32 requests run; --phase decode: of decode alone',
    ],
    [
      'stepscope capture --iterations 200-250 -- srun -n 8 trtllm-llmapi-launch trtllm-serve M',
      'one report per rank',
    ],
    [
      'stepscope capture --delay 60s --duration 10s -- text-generation-launcher --model-id M',
      'a recording window in seconds',
    ],
    [
      'stepscope capture --pod llama-0 -n serving --iterations 100-150 -o trace -- trtllm-bench …',
      'run in a pod and copy the report back',
    ],
    [
      'stepscope capture --attach --selector app=llm -o trace --store s3://profiles/llm',
      'servers that run in pods: profiled as they are, one after the other',
    ],
    [
      'stepscope capture --iterations 100-150 --script capture.sh -- trtllm-serve M',
      'for a machine without Stepscope',
    ],
  ],
  async run(call, all) {
    const { values, given, program, nsysOptions, destination, output, emit } = call;
    if (given.length > 0)
      throw new UserError(
        'usage',
        `Unexpected argument ${JSON.stringify(given[0])} before --.`,
        'Put options first, then --, then the command: stepscope capture --iterations 100-150 -- trtllm-bench …',
      );
    const pasted = readPasted(wordsOf(values.explain, program), [
      ...nsysOptions,
      ...readNsysWords(values.nsysArgs.flatMap(shellWords)).options,
    ]);
    const asked = askedFor(values, pasted);
    refuseCalibration(values);
    refuseDemand(values, asked);
    const isJson = destination.format === 'json';
    if (values.fetch !== undefined && isJson)
      throw new UserError(
        'usage',
        '--fetch has no plan to print as JSON.',
        'Use --dry-run, or remove --json.',
      );
    if (values.fetch !== undefined) return runFetch(values, asked, output);
    const print = (plan: CapturePlan, text: (plan: CapturePlan) => string) =>
      emit({ blocks: () => [], document: () => planDocument(plan), text: () => text(plan) });
    const isOnlyShown = isJson || values.dryRun || values.explain !== undefined;
    if (values.selector !== undefined && !isOnlyShown && values.script === undefined)
      return inEveryPod(
        values,
        text => output.err(`stepscope: ${text}\n`),
        inPod => this.run({ ...call, values: inPod } as never, all),
      );
    const check = (plan: CapturePlan) => warnBefore(plan, values.anyway, output);
    if (values.restart && values.attach)
      throw new UserError(
        'usage',
        '--restart and --attach cannot be combined: one restarts the server, the other leaves it alone.',
        'Give one of them.',
      );
    if (values.restart && isJson)
      throw new UserError(
        'usage',
        '--restart has no plan to print as JSON: the command is read from the pod.',
        'Use --dry-run, or remove --json.',
      );
    if (values.restart && !values.dryRun) return runRestarted(asked, values, output, check);
    if (values.restart) {
      output.out(restartText(values));
      return 0;
    }
    if (values.attach) {
      const far = isOnlyShown ? undefined : transportOf(values);
      if (far) return runAttachedFar(far, asked, values, output, check);
      if (!isOnlyShown) return runAttached(asked, values, output, check);
      const plan = planAttach(attachQuestion(values, asked));
      await print(isFar(values) ? shownThere(plan, values, asked) : plan, planText);
      return 0;
    }
    const facts = await factsFor(values, asked);
    const isShownThere = isFar(values) && values.script === undefined && values.explain === undefined;
    const planned = planCapture(isShownThere ? askedThere(asked) : asked, facts);
    const plan = {
      ...withWarnings(isShownThere ? shownThere(planned, values, asked) : planned, pasted.warnings),
      ...(values.store === undefined ? {} : { storedIn: values.store }),
    };
    if (values.explain !== undefined) {
      await print(plan, explainText);
      return 0;
    }
    const { script, force } = values;
    const agent = asksForAgent(values) ? { agentVersion: version() } : {};
    if (values.fleetLake !== undefined && script === undefined)
      throw new UserError(
        'usage',
        '--fleet needs --script: the lake is filled by the script.',
        'After a capture, run: stepscope fleet map REPORTS… --out LAKE',
      );
    const scriptText = () => planScript(plan, { force, ...agent, lake: values.fleetLake });
    // A dry run writes nothing: the script is printed too.
    if (script !== undefined && !values.dryRun) writeResult(script, scriptText(), force, output);
    if (isJson || values.dryRun) await print(plan, script === undefined ? planText : scriptText);
    if (isJson || script !== undefined || values.dryRun) return 0;
    // What is wrong with this machine does not matter when another one runs it.
    if (!isFar(values)) warnBefore(plan, values.anyway, output);
    return runCapture({ asked, plan, values, facts }, output);
  },
});

/** A text that is only judged, or the words after `--`. */
function wordsOf(explained: string | undefined, program: readonly string[]): readonly string[] {
  if (explained === undefined) return program;
  if (program.length > 0)
    throw new UserError(
      'usage',
      '--explain takes the command as one quoted text, and a command was also given after --.',
      "For example: stepscope capture --explain 'nsys profile -o trace trtllm-serve M'",
    );
  return pastedWords(explained, 'nsys');
}

/** What would be empty or wrong is not begun: it takes minutes to find out. */
function warnBefore(plan: CapturePlan, anyway: boolean, output: Output): void {
  const wrong = plan.warnings.find(({ severity }) => severity === 'error');
  if (wrong && !anyway)
    throw new UserError('usage', wrong.text, `${wrong.fix} (--anyway runs it unchanged.)`);
  for (const { severity, text, fix } of plan.warnings)
    if (severity !== 'note') output.err(`stepscope: ${text}\n  → ${fix}\n`);
}
