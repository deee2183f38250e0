/** The collectives of a run by kernel, group and size: how long ranks wait and transfer in them, and how fast. */
import { NONE } from '../../base/column.js';
import { peakFromProfile } from '../../catalog/gpus.js';
import { medianOf } from '../../stats/summary.js';
import type { Analysis, AnalysisResult } from '../analysis.js';
import { field, keyField, maybe, type RowOf } from '../field.js';
import { collectiveCalls, hasKnownWaits } from './collective-calls.js';
import { collectiveWaits, rankMatching } from './collective-waits.js';
import { notMatched } from './not-matched.js';

const fields = {
  key: keyField,
  kind: field.text('Kind', 'all-reduce, all-gather, reduce-scatter, all-to-all, dispatch, combine …'),
  kernel: field.text('Kernel', 'short name of the kernel, or the range of a host'),
  group: maybe(
    field.text(
      'Group',
      'name of the process group, where the profiler states it; of a send, from which rank to which',
      { priority: -1 },
    ),
  ),
  ranks: field.count('Ranks', 'of the group, as far as given'),
  bytes: maybe(field.bytes('Message', 'bytes of the message; the whole of it for a gather or scatter')),
  collectives: field.count('Count', 'matched collectives'),
  unmatchedCalls: field.count('Unmatched', 'calls that were matched with no other rank', { priority: -1 }),
  durationNs: field.nsMean('Duration', 'mean over ranks'),
  waitingNs: maybe(field.nsMean('Waiting', 'until the last rank arrives, mean over ranks')),
  transferringNs: maybe(field.nsMean('Transferring', 'after the last rank arrived, mean over ranks')),
  medianTransferNs: maybe(
    field.nsMean('Median transfer', 'last arrival to last end, median over collectives', { priority: -1 }),
  ),
  busBytesPerSecond: maybe(
    field.bytesPerSecond('Bus bandwidth', 'bytes a rank must move divided by the median transfer'),
  ),
  ofLink: maybe(field.share('Of link (%)', 'bus bandwidth by the link’s peak in one direction (catalogue)')),
};

type CollectiveRow = RowOf<typeof fields>;

export const collectives: Analysis<CollectiveRow, AnalysisResult<CollectiveRow>> = {
  id: 'collectives',
  title: 'Collectives',
  question: 'How long do ranks wait and transfer in each kind of collective, and how fast is the transfer?',
  reads: {},
  uses: [collectiveCalls, collectiveWaits, rankMatching],
  fields,
  compute({ profile, use }) {
    const calls = use(collectiveCalls);
    const waits = use(collectiveWaits);
    const { problem } = use(rankMatching);
    if (calls.length === 0) throw notMatched(problem);
    const unmatched = new Float64Array(calls.keys.length);
    const unmatchedNs = new Float64Array(calls.keys.length);
    for (let call = 0; call < calls.length; call++) {
      if (waits && !Number.isNaN(waits.waitingNs[call])) continue;
      unmatched[calls.key[call]]++;
      unmatchedNs[calls.key[call]] += calls.end[call] - calls.start[call];
    }
    const byRow = new Map<string, NonNullable<typeof waits>['collectives'][number][]>();
    for (const collective of [...(waits?.collectives ?? []), ...(waits?.transfers ?? [])]) {
      const key = `${collective.key}/${collective.group}/${collective.bytes ?? ''}`;
      const own = byRow.get(key);
      if (own) own.push(collective);
      else byRow.set(key, [collective]);
    }
    const told = new Set<number>();
    const rows = [...byRow].map(([text, own]): CollectiveRow => {
      const [{ key, group, bytes, busBytes }] = own;
      const { kind, name, transfer } = calls.keys[key];
      const groupName = waits!.groups[group].name;
      const all = own.flatMap(collective => collective.calls);
      const mean = (of: (call: number) => number) =>
        all.reduce((sum, call) => sum + of(call), 0) / all.length;
      const transferNs = medianOf(Float64Array.from(own, ({ end, lastArrival }) => end - lastArrival));
      const rate = busBytes !== undefined && transferNs > 0 ? (busBytes / transferNs) * 1e9 : null;
      const peak = linkOf(calls.ranks[own[0].lastRank].device);
      const first = !told.has(key);
      told.add(key);
      return {
        key: `collective:${kind}/${name}/${text}`,
        kind,
        kernel: name,
        group: (transfer ? `${groupName} ${transfer.from}→${transfer.to}`.trim() : groupName) || null,
        ranks: waits!.groups[group].ranks.length,
        bytes: bytes ?? null,
        collectives: own.length,
        unmatchedCalls: first ? unmatched[key] : 0,
        durationNs: mean(call => calls.end[call] - calls.start[call]),
        waitingNs: mean(call => waits!.waitingNs[call]),
        transferringNs: mean(call => waits!.transferringNs[call]),
        medianTransferNs: transferNs,
        busBytesPerSecond: rate,
        // A rate above the link's peak was not carried by that link.
        ofLink: rate !== null && peak !== undefined && rate <= peak ? rate / peak : null,
      };
    });
    calls.keys.forEach(({ kind, name, group }, key) => {
      if (told.has(key) || unmatched[key] === 0) return;
      rows.push({
        key: `collective:${kind}/${name}/${key}`,
        kind,
        kernel: name,
        group: group || null,
        ranks: new Set(calls.rank.filter((_, call) => calls.key[call] === key)).size,
        bytes: null,
        collectives: 0,
        unmatchedCalls: unmatched[key],
        durationNs: unmatchedNs[key] / unmatched[key],
        ...{ waitingNs: null, transferringNs: null, medianTransferNs: null },
        ...{ busBytesPerSecond: null, ofLink: null },
      });
    });
    rows.sort((a, b) => timeOf(b) - timeOf(a));
    return {
      rows,
      summary: {
        ranks: calls.ranks.length,
        matchedCalls: waits?.matched ?? 0,
        calls: calls.length,
        problem: problem ?? null,
        oneSidedCalls: calls.key.reduce((sum, key) => sum + (hasKnownWaits(calls.keys[key]) ? 0 : 1), 0),
      },
    };

    function linkOf(device: number): number | undefined {
      return device === NONE ? undefined : peakFromProfile(profile.gpus[device]).nvlinkBytesPerSecond?.value;
    }
  },
};

const timeOf = ({ durationNs, collectives: count, ranks, unmatchedCalls }: CollectiveRow) =>
  durationNs * (count * ranks + unmatchedCalls);
