/**
 * Asynchronous scheduling: the host reads the result of a step when it has launched the next one. What it does between
 * forward passes runs while the GPU works on the step before; sampled tokens stay on the GPU. In the launch graph, the
 * waits at the end of a step wait for the step before instead, and everything keeps its order.
 *
 *   before  launch 1 │ wait 1 │ code │ launch 2 │ wait 2 │ code        after  launch 1 │ wait 0 │ code │ launch 2 │ wait 1
 *   gpu              ▄▄▄▄▄▄▄▄          ▄▄▄▄▄▄▄▄                                        ▄▄▄▄▄▄▄▄        ▄▄▄▄▄▄▄▄
 */
import { NONE } from '../../../base/column.js';
import { applied, type Change, type ChangeInput, cannotTell, doesNotApply, stepsIn } from '../change.js';
import type { ReplayModel } from '../replay-model.js';

export const asyncScheduling: Change = {
  id: 'async',
  label: 'asynchronous scheduling',
  apply(models, input) {
    if (input.phase !== 'decode' && input.phase !== 'unknown')
      return doesNotApply('it overlaps consecutive decode steps; other steps depend on new requests');
    if (!models.some(({ steps }) => steps.length > 1))
      return cannotTell('no two consecutive steps were captured');
    const waits = models.map(model => lastWaits(model, input));
    const found = waits.reduce(
      (sum, perStep) => sum + perStep.reduce((own, list) => own + list.length, 0),
      0,
    );
    // A stray one at the edge of a window is not how steps are read.
    if (found < stepsIn(models) / 2)
      return doesNotApply(
        'no wait behind a forward pass reads the result of the same step: steps already overlap',
      );
    for (const [m, model] of models.entries()) defer(model, waits[m]);
    return applied('the host reads the result of a step when it has launched the next one');
  },
};

/** Per step, the waits for its own work that come behind the last launch of its forward pass. */
function lastWaits(model: ReplayModel, { factsOf }: ChangeInput): number[][] {
  const { items, ops, threads } = model;
  const lastLaunch = model.steps.map(() => NONE as number);
  ops.forEach(op => {
    if (op.step !== NONE && op.launch !== NONE && factsOf(op).inForward)
      lastLaunch[op.step] = Math.max(lastLaunch[op.step], op.launch);
  });
  const found: number[][] = model.steps.map(() => []);
  for (const i of threads[0].items) {
    const { kind, awaits } = items[i];
    if (kind !== 'wait' || awaits === NONE) continue;
    const { step } = ops[awaits];
    if (step !== NONE && lastLaunch[step] !== NONE && i > lastLaunch[step] && items[i].step === step)
      found[step].push(i);
  }
  return found;
}

/** The last waits of a step wait for what those of the step before waited for: the last for the last, and so on. */
function defer({ items }: ReplayModel, waits: readonly (readonly number[])[]): void {
  const awaited = waits.map(list => list.map(i => items[i].awaits));
  waits.forEach((list, step) => {
    const before = awaited[step - 1] ?? [];
    list.forEach((i, k) => {
      const fromEnd = list.length - k;
      items[i].awaits = before[before.length - fromEnd] ?? NONE;
    });
  });
}
