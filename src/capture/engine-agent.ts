/** Our agent inside the program: it finds the steps, marks them and opens the range round those asked for. */

import { reportStem } from '../catalog/file-formats.js';
import type { AgentFacts, CaptureOptions } from './capture-plan.js';
import { type EnginePart, type EngineQuestion, PartBuilder } from './engine-part.js';
import { agentFiles, loadSteps } from './serving-steps.js';
import { demandOf } from './window-goal.js';

export function planAgent({ options, facts, program }: EngineQuestion, folder: string): EnginePart {
  const part = new PartBuilder();
  bringAgent(part, folder, facts.agent);
  const { iterations } = options;
  const spans = iterations?.map(({ first, last }) => `${first}-${last}`).join(',');
  if (iterations && spans !== undefined) {
    part.variable('STEPSCOPE_PROFILE_START_STOP', spans, 'the steps to record, inclusive');
    part.opensRange = true;
    part.ranges = iterations.length;
  }
  // What nsys fills into its own names nobody fills in here; the agent adds the rank by itself.
  const stem = reportStem(options.output ?? 'trace').replaceAll(/[-_.]?(rank)?%(q\{[^}]*\}|[hpn])/g, '');
  if (program.server || options.serverUrl !== undefined) watchServer(part, options, stem);
  if (program.server) part.steps.push(...loadSteps(options, part.env));
  part.variable(
    'STEPSCOPE_MARKERS',
    ['step', ...(options.gc ? ['gc'] : []), ...(options.nvtxDebug ? ['layers', 'moe', 'sampling'] : [])].join(
      ',',
    ),
    'ranges that identify steps, phases and batches',
  );
  if (options.perfectRouter)
    part.variable('ENABLE_PERFECT_ROUTER', '1', 'balanced expert routing; MODEL OUTPUT IS WRONG');
  if (options.calibrate && spans !== undefined) {
    const pattern = `${options.torchTrace ?? stem}.calibration.agent.json`;
    const { PYTHONPATH, ENABLE_PERFECT_ROUTER, STEPSCOPE_PROGRESS } = part.env;
    part.calibration = {
      env: {
        ...(PYTHONPATH === undefined ? {} : { PYTHONPATH }),
        STEPSCOPE_CALIBRATE: spans,
        STEPSCOPE_SIDECAR: pattern,
        ...(STEPSCOPE_PROGRESS === undefined ? {} : { STEPSCOPE_PROGRESS }),
        ...(ENABLE_PERFECT_ROUTER === undefined ? {} : { ENABLE_PERFECT_ROUTER }),
      },
      outputs: [{ kind: 'agent-sidecar', pattern }],
    };
  }
  if (options.torchTrace !== undefined) {
    part.torchInstead = true;
    part.variable('STEPSCOPE_TORCH_TRACE', options.torchTrace, 'a PyTorch trace of the same steps');
    part.outputs.push({ kind: 'torch-trace', pattern: `${options.torchTrace}-rank-*.json.gz` });
    part.outputs.push({ kind: 'agent-sidecar', pattern: `${options.torchTrace}-rank-*.agent.json` });
  } else {
    part.variable('STEPSCOPE_SIDECAR', `${stem}.agent.json`, 'batches, tokens and layers inside CUDA graphs');
    part.outputs.push({ kind: 'agent-sidecar', pattern: `${stem}.agent.json` });
  }
  return part.done();
}

/** Requests are sent until the window has passed: the agent says how far the program is, and opens one on request. */
function watchServer(part: PartBuilder, options: CaptureOptions, stem: string): void {
  const demand = demandOf(options);
  if (!options.iterations && !demand) return;
  const files = agentFiles(stem);
  part.variable('STEPSCOPE_PROGRESS', files.progress, 'how far the program is');
  if (!demand) return;
  part.variable('STEPSCOPE_TRIGGER', files.trigger, 'the window opens when this file is written');
  part.opensRange = true;
  part.byRequest = true;
  part.ranges = 1;
}

/** An installed one starts by itself, if it is the one whose variables and files this Stepscope knows. */
function bringAgent(part: PartBuilder, folder: string, agent: AgentFacts | undefined): void {
  const { ours, installed } = agent ?? {};
  if (installed !== undefined && installed === ours) {
    part.why.push({
      what: `stepscope-agent ${installed}`,
      why: 'is installed in the Python that runs the program and is loaded from it',
    });
    return;
  }
  part.variable('PYTHONPATH', folder, 'loads the agent into the program');
  if (installed !== undefined)
    part.warn(
      'warning',
      'other-agent',
      `stepscope-agent ${installed} is installed in the Python that runs the program; version ${ours} of this Stepscope is loaded instead.`,
      `To use the installed agent: pip install stepscope-agent==${ours}`,
    );
}
