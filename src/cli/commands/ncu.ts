import { Analyzer } from '../../analyze/analysis.js';
import type { Block } from '../../analyze/block.js';
import type { Static } from '../../base/document.js';
import { formatDuration, plural } from '../../base/units.js';
import { UserError } from '../../base/user-error.js';
import { shellQuote } from '../../capture/shell-quote.js';
import { ncuArguments, ncuReads, ncuTarget } from '../../rerun/ncu-command.js';
import { limitOf, type NcuLaunch } from '../../rerun/ncu-result.js';
import type { ncuSchema } from '../answers-schema.js';
import { define, requireFiles } from '../command.js';
import { analysisOptions } from '../options.js';
import { profileFor, settingsOf, tellLosses } from '../profile-of.js';
import { readNcuResult, runNcu } from '../run-ncu.js';

const REPORT = 'stepscope-ncu';
const YOURS = 'YOUR COMMAND';

export const ncu = define({
  usage: ['FILE… KERNEL [options]', 'FILE… KERNEL [options] -- COMMAND…'],
  options: [...analysisOptions, 'ncuResult', 'ncuSet', 'dryRun'],
  formats: ['table', 'json', 'markdown'],
  takesProgram: true,
  notes: [
    ['KERNEL', 'a part of a kernel’s name; of several kernels, the one with the most time in a typical step'],
    ['COMMAND', 'the program of the profile: it runs again under Nsight Compute, and the result is shown'],
    ['', 'Without COMMAND or --result the command for Nsight Compute is only printed.'],
  ],
  examples: [
    ['stepscope ncu profile.sqlite gemm', 'the command that measures this kernel in a typical step'],
    ['stepscope ncu profile.sqlite gemm -- python generate.py', 'measure it, and show what limits it'],
    ['stepscope ncu profile.sqlite gemm --result gemm.ncu-rep', 'show what was measured elsewhere'],
  ],
  async run({ values, given, program, destination, output, emit }) {
    const wanted = given.at(-1) ?? '';
    const files = given.slice(0, -1);
    if (files.length === 0 && wanted !== '')
      throw new UserError('usage', 'No kernel was given.', `For example: stepscope ncu ${wanted} gemm`);
    requireFiles('ncu', files);
    const profile = await profileFor(files, ncuReads, output);
    const target = ncuTarget(new Analyzer(profile, settingsOf(values)), wanted);
    const args = ncuArguments(target, REPORT, values.ncuSet);
    const isRun = program.length > 0 && !values.dryRun && values.ncuResult === undefined;
    if (isRun) runNcu([...args, ...program]);
    const result = values.ncuResult ?? (isRun ? `${REPORT}.ncu-rep` : undefined);
    const measured = result === undefined ? [] : readNcuResult(result);
    const command = ['ncu', ...args, ...program];
    const place =
      target.range !== null
        ? `launch ${target.skip + 1} of its function in the range ${target.range}`
        : `launch ${target.skip + 1} of its function since the recording began`;
    await emit({
      blocks: () => [
        {
          kind: 'facts',
          id: 'ncu',
          title: target.kernel,
          facts: [
            {
              label: 'recorded',
              text: `${plural(target.launches, 'launch', 'launches')}, median ${formatDuration(target.medianNs)}`,
            },
            { label: 'measures', text: target.step === null ? place : `step ${target.step}: ${place}` },
            {
              label: 'command',
              text: [...command.map(shellQuote), ...(program.length > 0 ? [] : [YOURS])].join(' '),
              isCommand: true,
            },
            ...(target.range === null && measured.length === 0
              ? [
                  {
                    label: 'note',
                    text: 'Launches before the recording are not counted: add them to --launch-skip, or begin both at the same place (cudaProfilerStart with --profile-from-start off).',
                    tone: 'quiet' as const,
                  },
                ]
              : []),
          ],
        },
        ...measured.map(describeLaunch),
      ],
      document: (): Static<typeof ncuSchema> => ({
        schema: 'stepscope-ncu/1',
        files: profile.capture.files,
        kernel: target.kernel,
        functionName: target.functionName,
        launches: target.launches,
        medianNs: target.medianNs,
        step: target.step,
        skip: target.skip,
        command,
        measured: measured.map(launch => ({
          ...launch,
          limit: limitOf(launch),
          figures: launch.figures.map(figure => ({ ...figure })),
        })),
        notes: profile.notes,
      }),
    });
    if (destination.format !== 'json') tellLosses(profile, output);
    return 0;
  },
});

const describeLaunch = (launch: NcuLaunch): Block => ({
  kind: 'facts',
  id: 'measured',
  title: `Nsight Compute: ${launch.kernel}`,
  facts: [
    { label: 'limit', text: limitOf(launch) },
    { label: 'launch', text: `grid ${launch.grid}, block ${launch.block}` },
    ...launch.figures.map(({ label, value, unit }) => ({
      label,
      text: `${value.toLocaleString('en-US', { maximumFractionDigits: 2 })} ${unit}`.trim(),
    })),
    {
      label: 'note',
      text: 'Nsight Compute locks the clocks and empties the caches between passes: its duration is not that of the step.',
      tone: 'quiet',
    },
  ],
});
