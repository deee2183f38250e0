/** The documents of `fleet map` and `fleet report`. */
import { choice, count, document, flag, list, number, object, orNull, string } from '../base/document.js';

const brokenFiles = list(
  object({
    path: string('file'),
    code: string('kind of problem'),
    message: string('what is wrong'),
    hint: string('what to do'),
  }),
  'files that could not be mapped',
);

export const fleetMapSchema = document(
  'stepscope-fleet-map/1',
  'stepscope fleet map',
  'What became of each file.',
  {
    tool: string('version of Stepscope'),
    lake: string('folder of the lake'),
    engine: string('where the files were mapped'),
    files: count('files given'),
    mapped: count('files that became partitions now'),
    already: count('files whose content the lake already had'),
    passedOver: count('files in folders that are not profiles'),
    broken: brokenFiles,
    partitions: list(
      object({
        path: string('file'),
        status: choice(['mapped', 'already']),
        partition: string('folder below the lake'),
      }),
      'where the content of each file is',
    ),
  },
);

export const fleetJobSchema = document(
  'stepscope-fleet-job/1',
  'stepscope fleet map --engine k8s',
  'A manifest for Kubernetes, and how to apply it.',
  {
    tool: string('version of Stepscope'),
    lake: string('folder of the lake'),
    files: count('files to map'),
    already: count('files that did not change since they were mapped'),
    tasks: count('pods'),
    job: string('name of the job'),
    manifest: string('file to apply'),
    commands: list(string(), 'what to run, in order'),
  },
);

/** Per step and device. */
const stepMeans = {
  steps: count('steps times devices'),
  wallNs: number('mean step'),
  ownNs: number('wallNs − communicationNs'),
  computeNs: number('mean'),
  communicationNs: number('exposed communication, mean'),
  copyNs: number('exposed copies, mean'),
  idleNs: number('mean'),
};

export const fleetReportSchema = document(
  'stepscope-fleet-report/1',
  'stepscope fleet report',
  'Ranks, nodes, configurations and changes over the runs of a lake. Definitions: docs/metrics.md#fleet.',
  {
    tool: string('version of Stepscope'),
    lake: string('folder of the lake'),
    files: count('files that are counted'),
    leftOut: list(
      object({ path: string('file'), run: string('its run'), why: string('why it is not counted') }),
      'files that are not counted',
    ),
    problems: list(
      object({
        run: string('run'),
        kind: choice(['missing-ranks', 'mixed', 'no-rank', 'no-steps', 'graph-blocks']),
        text: string('what is wrong'),
      }),
      'runs that are incomplete, or not one run',
    ),
    broken: brokenFiles,
    runs: list(
      object({
        run: string('run'),
        phase: string('phase with most time; the means are of its steps'),
        startUtcNs: orNull(number('nanoseconds since 1970; null: its files have clocks of their own')),
        startUtc: orNull(string('the same as text')),
        configuration: string('model, labels, engine, devices'),
        files: count('files'),
        units: count('devices'),
        nodes: count('machines'),
        spread: orNull(number('largest ownNs of a device divided by the median; null: only one device')),
        mixed: flag('its files are of different runs: compared with nothing'),
        requests: orNull(number('decoding requests per step, mean')),
        tokens: orNull(number('prompt tokens per step, mean')),
        ...stepMeans,
      }),
      'oldest first',
    ),
    ranks: list(
      object({
        run: string('run'),
        phase: string('phase'),
        rank: orNull(count('null: nothing gives it')),
        device: count('CUDA device number'),
        host: orNull(string('machine')),
        path: string('file'),
        ...stepMeans,
        aboveMedianNs: number('ownNs minus the median of the run'),
        aboveMedianShare: number('the same divided by the median'),
        slowestShare: orNull(number('share of the common steps in which its own time is the longest')),
        persistent: flag('slowest in half of the steps or more, in both halves of the capture'),
        collectiveExcessNs: orNull(number('time in collectives above that of the quickest device, mean')),
        mostly: orNull(choice(['compute', 'idle', 'copies']), 'the part that exceeds its median most'),
      }),
      'of runs with several devices, furthest above the median first',
    ),
    nodes: list(
      object({
        host: string('machine'),
        runs: count('runs'),
        units: count('devices, over all runs'),
        ofMedian: number('ownNs divided by the median of its run, mean'),
        slowestInRuns: count('of sharedRuns, those in which it has the device furthest above the median'),
        sharedRuns: count('runs on several machines'),
      }),
      'slowest first',
    ),
    configurations: list(
      object({
        configuration: string('model, labels, engine, devices'),
        phase: string('phase'),
        runs: count('runs'),
        latestRun: string('newest run'),
        ...stepMeans,
      }),
      'slowest first',
    ),
    changes: list(
      object({
        configuration: string('configuration'),
        phase: string('phase'),
        lastBefore: string('last run before the change'),
        firstAfter: string('first run after it'),
        before: list(string(), 'runs of the level before'),
        after: list(string(), 'runs of the level after'),
        fromNs: number('median of the means of the runs before'),
        toNs: number('median of those after'),
        changeShare: number('(toNs − fromNs) ÷ fromNs'),
        p: number('probability of such a change by chance'),
        meanBeforeNs: number('mean of the runs before'),
        meanAfterNs: number('mean of the runs after; the terms sum to the difference'),
        terms: list(
          object({
            part: string('part of the step'),
            label: string('in words'),
            fromNs: number('before'),
            toNs: number('after'),
            changeNs: number('difference'),
          }),
          'largest first',
        ),
        kernels: list(
          object({
            name: string('kernel'),
            family: orNull(string('family')),
            fromNs: number('before'),
            toNs: number('after'),
            fromCount: number('launches per step and device before'),
            toCount: number('after'),
          }),
          'largest difference first',
        ),
        load: list(
          object({
            what: choice(['requests', 'tokens']),
            from: number('per step, mean before'),
            to: number('after'),
          }),
          'load that differs by more than 1%',
        ),
      }),
      'where the level of the mean step changed',
    ),
    histories: list(
      object({
        configuration: string('configuration'),
        phase: string('phase'),
        runs: list(string(), 'oldest first'),
        tooFew: flag('too few runs to detect a change'),
        untimed: flag('some runs do not state when they were recorded: ordered by name'),
      }),
      'configurations with several runs',
    ),
    findings: list(
      object({
        rule: string('rule'),
        phase: orNull(string('phase')),
        runs: count('runs that have it'),
        files: count('files that have it'),
        costNs: orNull(number('per step, mean over the files')),
        costShare: orNull(number('of the step, mean over the files')),
        firstRun: string('oldest run that has it'),
        lastRun: string('newest run that has it'),
        claim: string('the costliest, in one sentence'),
      }),
      'most time first',
    ),
  },
);
