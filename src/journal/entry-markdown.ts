/** An entry as a page for people, next to its JSON: what was found, what was changed, what came of it. */

import { formatThroughput } from '../analyze/words.js';
import { formatDifference, formatValue } from '../gate/quantity.js';
import type { Unit } from '../run/metrics.js';
import { type EntryComparison, type JournalEntry, type Measurement, nextStep } from './entry.js';

/** Of people's text and of names: nothing that ends a line or a table cell. */
const plain = (text: string) => text.replaceAll(/[\r\n]+/g, ' ').replaceAll('|', '\\|');

export function entryMarkdown(entry: JournalEntry): string {
  const { number, title, state, base, change, result, comparison, decision } = entry;
  const lines = [
    `# ${String(number).padStart(3, '0')} ${plain(title)}`,
    '',
    `State: **${state}**. Next: \`${nextStep(entry)}\``,
    '',
    '## Diagnosis',
    '',
    ...measured(base),
    '',
    ...base.findings.map(
      ({ claim, confidence, gainThroughput, advice }) =>
        `- ${plain(claim)} (${confidence}${gainThroughput === null ? '' : `, estimated gain ${formatThroughput(gainThroughput)} steps/s`})${advice[0] ? `. ${plain(advice[0])}` : ''}`,
    ),
    ...(base.findings.length === 0 ? ['- nothing was found'] : []),
    '',
    '## Change',
    '',
    change ? plain(change.text) : 'none yet',
    ...(change?.git
      ? [
          '',
          `Commit \`${change.git.commit}\`${change.git.diffHash ? `, with ${change.git.changedFiles} uncommitted files (diff \`${change.git.diffHash.slice(0, 12)}\`)` : ''}`,
        ]
      : []),
    ...(change && change.capture.length > 0
      ? ['', '```sh', change.capture.map(quoted).join(' '), '```']
      : []),
    '',
    '## Result',
    '',
    ...(result ? measured(result) : ['none yet']),
    ...(comparison ? ['', '## Comparison', '', ...compared(comparison)] : []),
    ...(decision
      ? [
          '',
          '## Decision',
          '',
          `${decision.kept ? 'Kept' : 'Dropped'}${decision.reason ? `: ${plain(decision.reason)}` : '.'}`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function measured({ files, runs, environment }: Measurement): string[] {
  const [{ facts }] = runs;
  const { engine, engineVersion, versions, flags } = environment;
  const known = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `- files: ${files.map(({ name, hash }) => `${plain(name)} (${hash.slice(0, 23)})`).join(', ')}`,
    `- GPU: ${plain(facts.gpu ?? 'not recorded')} × ${facts.gpus}; engine: ${plain([engine, engineVersion].filter(Boolean).join(' ') || 'not recorded')}`,
    ...(known.length > 0 ? [`- versions: ${plain(known.join(', '))}`] : []),
    ...(flags ? [`- options: ${plain(flags.join(' '))}`] : []),
    `- runs: ${runs.length}`,
  ];
}

/** The step, and what moved. */
export const worthShowing = (figures: EntryComparison['figures']) =>
  figures
    .filter(
      ({ metric, verdict }) => metric.startsWith('step.') || verdict === 'better' || verdict === 'worse',
    )
    .slice(0, 30);

function compared({ verdict, obstacles, remarks, figures, phase }: EntryComparison): string[] {
  const shown = worthShowing(figures);
  return [
    `**${verdict}**${phase ? ` (${phase})` : ''}`,
    ...obstacles.map(obstacle => `- cannot be compared: ${plain(obstacle)}`),
    ...remarks.map(remark => `- ${plain(remark)}`),
    ...(shown.length > 0
      ? [
          '',
          '| metric | before | after | change | verdict |',
          '|---|---:|---:|---:|---|',
          ...shown.map(
            ({ metric, from, to, change, unit, verdict: own }) =>
              `| ${metric} | ${formatValue(from, unit as Unit)} | ${formatValue(to, unit as Unit)} | ${formatDifference(change, unit as Unit)} | ${own} |`,
          ),
        ]
      : []),
  ];
}
