/** What OpenMP, OpenACC, MPI and Vulkan calls took on the CPU. */
import { NONE } from '../../base/column.js';
import type { Profile } from '../../model/profile.js';
import { durationOf, eventSummary, eventsFrom, nameOf } from './event-summary.js';
import { apiName } from './gpu-operations.js';

const VULKAN_CALL = 53;
const mpiSources: Readonly<Record<string, string>> = {
  MPI_P2P_EVENTS: 'p2p',
  MPI_START_WAIT_EVENTS: 'start-wait',
  MPI_OTHER_EVENTS: 'other',
  MPI_COLLECTIVES_EVENTS: 'collectives',
};

const sourceOf = (profile: Profile, row: number) =>
  profile.strings.text(profile.tables.otherEvents!.source[row as never]);

/** One row per kind of event and name: NVIDIA sums each of its tables by itself. */
export const openmpSum = eventSummary({
  id: 'openmp_sum',
  title: 'OpenMP Summary',
  aliases: ['openmpevtsum'],
  countHeader: 'Count',
  nameHeader: 'Name',
  source: /^OPENMP_/,
  events: (profile, source) =>
    eventsFrom(profile, source).map(row => ({
      name: nameOf(profile, row) ?? '',
      durationNs: durationOf(profile, row),
      source: sourceOf(profile, row),
    })),
});

export const openaccSum = eventSummary({
  id: 'openacc_sum',
  title: 'OpenACC Summary',
  aliases: ['openaccsum'],
  countHeader: 'Num Calls',
  nameHeader: 'Name',
  source: /_OPENACC_/,
  events(profile, source) {
    const { file, line } = profile.tables.otherEvents!;
    return eventsFrom(profile, source).map(row => {
      const place =
        file && file[row] !== NONE ? `@${profile.strings.text(file[row])}:${line?.[row] ?? ''}` : '';
      return { name: `${nameOf(profile, row) ?? ''}${place}`, durationNs: durationOf(profile, row) };
    });
  },
});

export const mpiEventSum = eventSummary({
  id: 'mpi_event_sum',
  title: 'MPI Event Summary',
  aliases: [],
  countHeader: 'Instances',
  nameHeader: 'Name',
  sourceHeader: 'Source',
  source: /^MPI_/,
  events: (profile, source) =>
    eventsFrom(profile, source).map(row => ({
      name: nameOf(profile, row) ?? '',
      durationNs: durationOf(profile, row),
      source: mpiSources[sourceOf(profile, row)],
    })),
});

export const vulkanApiSum = eventSummary({
  id: 'vulkan_api_sum',
  title: 'Vulkan API Summary',
  aliases: ['vulkanapisum'],
  countHeader: 'Num Calls',
  nameHeader: 'Name',
  source: /^VULKAN_API$/,
  events: (profile, source) =>
    eventsFrom(profile, source, VULKAN_CALL).map(row => ({
      name: apiName(nameOf(profile, row) ?? ''),
      durationNs: durationOf(profile, row),
    })),
});
