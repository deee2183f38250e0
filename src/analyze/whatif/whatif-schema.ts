/** What `stepscope whatif --json` prints, declared: the step time after changes that were not made yet. */
import { choice, document, integer, list, number, object, orNull, string } from '../../base/document.js';
import type { Phase } from '../../catalog/phases.js';

export const whatifSchema = document(
  'stepscope-whatif/1',
  'Predicted step time',
  'How long does a step take after these changes? Predicted by replaying the launch graph of the recorded steps.',
  {
    files: list(string('base name')),
    predictions: list(
      object({
        phase: string<Phase>('of the steps'),
        cannotTell: orNull(string('why there is no prediction; null: there is one')),
        steps: integer('steps behind the means'),
        stepsLeftOut: integer('steps that fill the pipeline, or that the replay does not reproduce'),
        replayError: orNull(
          number('largest deviation of the unchanged replay from a recorded step, as a share of the step'),
        ),
        unexplainedShare: orNull(
          number('share of the step in waits of GPU work that neither launches nor other work explain'),
        ),
        fromNs: integer('mean step as profiled'),
        toNs: integer('mean step as predicted, under the same profiler'),
        changeNs: integer('toNs − fromNs'),
        interval: orNull(
          object(
            { lowNs: number('nanoseconds'), highNs: number('nanoseconds') },
            'of toNs: scatter of the steps and the errors of the models on measured pairs',
          ),
        ),
        confidence: orNull(
          choice(
            ['likely', 'possible'],
            'likely: measured pairs test every applied change, with errors of at most 25%',
          ),
        ),
        requests: orNull(
          object(
            { from: number('per step'), to: number('per step') },
            'requests that generate; null: not recorded',
          ),
        ),
        terms: list(
          object({
            key: string('unique in the phase'),
            label: string('readable label'),
            fromNs: integer('nanoseconds in the mean step as profiled'),
            toNs: integer('nanoseconds in the mean step as predicted'),
            changeNs: integer('toNs − fromNs; over all terms these sum to the changeNs of the phase'),
          }),
        ),
        changes: list(
          object({
            id: string('of the change'),
            label: string('readable label'),
            status: choice(
              ['applied', 'does-not-apply', 'cannot-tell'],
              'only applied changes have an effect',
            ),
            detail: string('what it does here, or why it does nothing'),
            aloneNs: orNull(number('change of the step by this change only; null: none')),
            modelError: number('error of the model as a share of the change; at least 0.25 if untested'),
            testedPairs: integer('measured pairs that test the model; 0: none'),
          }),
          'in the order they are applied',
        ),
      }),
      'one per phase, longest first',
    ),
  },
);
