/** docs/host-names.md: of every profile at hand, how much of the host-caused idle time the file names. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { Analyzer, NotRecorded } from '../src/analyze/analysis.js';
import { hostBlockers } from '../src/analyze/host-code/host-blockers.js';
import { hotPaths } from '../src/analyze/host-code/hot-paths.js';
import { namedTime } from '../src/analyze/host-code/named-share.js';
import { hintForNames } from '../src/analyze/host-code/names-hint.js';
import { formatDuration, formatShare } from '../src/base/units.js';
import { matchMarker } from '../src/catalog/engine-markers.js';
import { GIL_HOLD } from '../src/catalog/host-activities.js';
import { openProfile } from '../src/import/open.js';
import type { Profile, Row } from '../src/model/profile.js';
import { capturesFolder, projectRoot } from '../src/testing/captures.js';
import { locate } from '../src/testing/needs.js';

export const hostNamesFile = path.join(projectRoot, 'docs/host-names.md');

export interface NamesRow {
  readonly name: string;
  readonly line: string;
  /** What of the file names code; none: only CUDA and OS calls, and markers around whole steps. */
  readonly sources: readonly string[];
  readonly named: number;
  readonly placed: number;
  /** How to record the names that are missing, as the page says it. */
  readonly hint: string | undefined;
}

interface Section {
  readonly title: string;
  /** Undefined where the folder is not on this machine: then the section stays as it is. */
  readonly files: readonly { readonly name: string; readonly file: string }[] | undefined;
}

const PROFILE = /\.(sqlite|json)\.gz$/;
const NO_PROFILE = /agent\.json|expert-load|serving-bench/;
/** Ranks of one run do the same: the first stands for all. */
const OTHER_RANK = /(TP-|rank)[1-9]\b/;

export function namesSections(): readonly Section[] {
  const below = (folder: string | undefined) =>
    folder === undefined
      ? undefined
      : readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter(name => PROFILE.test(name) && !NO_PROFILE.test(name) && !OTHER_RANK.test(name))
          .sort()
          .map(name => ({
            name: name.replaceAll(path.sep, '/').replace(/\.gz$/, ''),
            file: path.join(folder, name),
          }));
  const own = below(capturesFolder)!;
  const engines = below(locate('captures'))?.filter(({ name }) => !own.some(known => known.name === name));
  return [
    { title: 'Captures in this repository', files: own },
    { title: 'Captures of real engines', files: engines },
    { title: 'Profiles published by others', files: below(locate('external')) },
    { title: 'More profiles published by others', files: below(locate('external-2')) },
  ];
}

/** Undefined where the GPU never waits for the host in the selected steps, or no GPU work is recorded. */
export async function namesRow(name: string, file: string): Promise<NamesRow | undefined> {
  const profile = await openProfile([file]);
  const analyzer = new Analyzer(profile);
  let blockers: ReturnType<typeof analyzer.get<ReturnType<typeof hostBlockers.compute>>>;
  try {
    blockers = analyzer.get(hostBlockers);
  } catch (error) {
    if (error instanceof NotRecorded) return undefined;
    throw error;
  }
  const { paths, windows, sums } = blockers;
  const parts = [...windows.keys()].flatMap(phase => {
    const all = sums(phase, 'all');
    return all ? [{ ...namedTime(paths, all), places: hotPaths(paths, all) }] : [];
  });
  const add = (of: 'totalNs' | 'namedNs' | 'placedNs') => parts.reduce((sum, part) => sum + part[of], 0);
  const totalNs = add('totalNs');
  if (totalNs === 0) return undefined;
  const [named, placed] = [add('namedNs') / totalNs, add('placedNs') / totalNs];
  const [first] = parts.flatMap(({ places }) => places).sort((a, b) => b.ns - a.ns);
  const sources = sourcesOf(profile);
  const hint = hintForNames(profile, {
    totalNs,
    namedNs: add('namedNs'),
    placedNs: add('placedNs'),
  });
  const cells = [
    name,
    sources.join(', ') || '–',
    formatDuration(totalNs),
    formatShare(named),
    formatShare(placed),
    first ? `${first.label} (${formatShare(first.ns / totalNs)})` : '–',
    hint ?? '',
  ];
  return {
    name,
    sources,
    named,
    placed,
    hint,
    line: `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`,
  };
}

function sourcesOf(profile: Profile): string[] {
  const { ops, frames, ranges, hostSamples } = profile.tables;
  const saying = new Set<number>();
  for (let row = 0 as Row<'ranges'>; row < (ranges?.length ?? 0); row++)
    if (ranges!.name[row] >= 0) saying.add(ranges!.name[row]);
  const isCode = (text: string) => text !== GIL_HOLD && matchMarker(text) === undefined;
  return [
    ...((ops?.length ?? 0) > 0 ? ['operators'] : []),
    ...((frames?.length ?? 0) > 0 ? ['frames'] : []),
    ...([...saying].some(id => isCode(profile.strings.text(id))) ? ['ranges'] : []),
    ...((hostSamples?.length ?? 0) > 0 ? ['samples'] : []),
  ];
}

const HEAD =
  '| profile | names come from | host-caused idle | named | placed | largest place | to name the rest |\n|---|---|---:|---:|---:|---|---|';

export const namesSection = (title: string, rows: readonly NamesRow[]): string =>
  `## ${title}\n\n${HEAD}\n${rows.map(({ line }) => line).join('\n')}\n`;

/** The section as it stands in the file: kept where its profiles are not on this machine. */
export function namesSectionInFile(title: string): string {
  const text = existsSync(hostNamesFile) ? readFileSync(hostNamesFile, 'utf8') : '';
  const at = text.indexOf(`\n## ${title}\n`);
  if (at < 0) return '';
  const end = text.indexOf('\n## ', at + 1);
  return text.slice(at + 1, end < 0 ? undefined : end);
}

export const namesIntroduction = `# How much host code is named

Host-caused idle time of every profile at hand, in the selected steps, and the share that the file names ([metrics.md](metrics.md#host-code)). *Named* lies inside a recorded event or a sample: a CUDA call, an operator, a range, a Python frame, a sampled function, an OS call, or the thread that ran meanwhile. *Placed* has no recorded event, but a recorded operator, range or function follows it directly on the thread. The rest is known only by the call that follows. Ranges that mark whole steps, and those that show who holds the GIL, name no code.

Of several ranks of one run the first is listed. Profiles whose GPU never waits for the host are left out. \`UPDATE_GOLDEN=1 node test/run.mjs host-names\` writes this page again. Profiles that are not in this repository are read where they lie next to it ([CONTRIBUTING](../CONTRIBUTING.md)).

`;
