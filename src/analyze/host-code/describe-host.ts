/** The host's call tree as lines: one per node, and one for a chain of callers that only lead to the next. */
import { formatDuration, formatShare, plural } from '../../base/units.js';
import type { Block, StatementBlock, TableBlock } from '../block.js';
import { KEEP } from '../block.js';
import { tableOf } from '../table-of.js';
import type { CallNode } from './call-tree.js';
import type { HostProfile } from './host-profile.js';

/** Of a node's time, what its only child must hold for both to be one line. */
const CHAIN = 0.99;
/** Names of a chain that are shown; the outer ones say least. */
const MOST_NAMES = 3;

/** A smaller share would read as 0.0%. */
const LEAST_SHOWN = 0.0005;

interface Line {
  readonly label: string;
  readonly node: CallNode;
}

/** `hint`: how to record what has no name. */
export function hostBlocks(profile: HostProfile, hint: string | undefined): Block[] {
  const { tree, weight, windows, steps, inverted } = profile;
  const answer: StatementBlock = {
    kind: 'statement',
    id: 'answer',
    title: 'Answer',
    lines: answerLines(profile, hint),
  };
  if (tree.totalNs === 0) return [answer];
  const lines: Line[] = [];
  for (const child of tree.children) addLines(child, 0, lines);
  if (tree.selfNs > 0) lines.push({ label: '(nothing recorded)', node: { ...tree, totalNs: tree.selfNs } });
  const per = steps > 0 ? ' per step' : '';
  const table: TableBlock = tableOf(
    lines,
    {
      id: 'host',
      title: `${inverted ? 'What takes the time, and who calls it' : 'Call tree of the host'}, ${
        weight === 'idle' ? 'by the GPU idle time it causes' : 'by its own time'
      }`,
    },
    [
      [weight === 'idle' ? `Idle${per}` : `Time${per}`, 'ns-mean', ({ node }) => node.totalNs / windows],
      ['Share (%)', 'share', ({ node }) => node.totalNs / tree.totalNs],
      ['Self', 'ns-mean', ({ node }) => node.selfNs / windows, { priority: -1 }],
      [`Calls${per}`, 'mean', ({ node }) => (node.kind === 'all' ? undefined : node.count / windows)],
      ['Code', 'text', ({ label }) => label, { priority: KEEP }],
    ],
  );
  return [answer, table];
}

function addLines(node: CallNode, depth: number, into: Line[]): void {
  const names = [node.name];
  let last = node;
  for (;;) {
    const [only] = last.children;
    if (!only || only.kind === 'smaller' || only.totalNs < CHAIN * last.totalNs) break;
    last = only;
    names.push(last.name);
  }
  const shown = names.length > MOST_NAMES ? ['…', ...names.slice(-MOST_NAMES)] : names;
  into.push({ label: `${'· '.repeat(depth)}${shown.join(' → ')}`, node: last });
  for (const child of last.children) addLines(child, depth + 1, into);
}

function answerLines(profile: HostProfile, hint: string | undefined): string[] {
  const { weight, totalNs, namedNs, placedNs, windows, steps } = profile;
  const per = steps > 0 ? ' per step' : ' in total';
  if (totalNs === 0)
    return [
      weight === 'idle'
        ? 'The GPU does not wait for the host in the selected steps.'
        : 'No host events are recorded in the selected steps.',
      ...(weight === 'idle' ? ['→ See what the host does anyway: --weight time'] : []),
    ];
  const what =
    weight === 'idle'
      ? `The GPU waits ${formatDuration(totalNs / windows)}${per} for the host.`
      : `The threads that launch GPU work take ${formatDuration(totalNs / windows)}${per}.`;
  const over = steps > 0 ? `${plural(steps, 'step')}; ` : '';
  const rest = totalNs - namedNs - placedNs;
  const isShown = (ns: number) => ns >= LEAST_SHOWN * totalNs;
  const shares = [
    `${formatShare(namedNs / totalNs)} of it is in recorded events`,
    isShown(placedNs) && `${formatShare(placedNs / totalNs)} before a recorded operator, range or function`,
    isShown(rest) && `${formatShare(rest / totalNs)} is known only by the call that follows`,
  ].filter(text => text !== false);
  return [
    what,
    `${over}${shares.join(', ')}.`,
    ...(hint === undefined ? [] : [`→ To name the rest: ${hint}.`]),
  ];
}
