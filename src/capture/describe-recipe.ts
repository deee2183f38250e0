/** The recipe beside a profile, as facts for `stepscope info`. It is shown, never followed. */
import type { Block, Fact } from '../analyze/block.js';
import { printable } from '../base/printable.js';
import { formatDuration } from '../base/units.js';
import type { Recipe } from './recipe.js';
import { shellAssignment, shellCommand } from './shell-quote.js';

const MOST_CHARACTERS = 600;

export function describeRecipe(recipe: Recipe): Block {
  const set = Object.entries(recipe.environment).map(([name, value]) => shellAssignment(name, value));
  const tookNs = (Date.parse(recipe.endedUtc) - Date.parse(recipe.startedUtc)) * 1e6;
  const facts: Fact[] = [
    { label: 'command', text: shown([...set, shellCommand(recipe.command)].join(' ')) },
    {
      label: 'ran',
      text: shown(
        [
          recipe.where,
          `started ${recipe.startedUtc}`,
          ...(tookNs >= 0 ? [`took ${formatDuration(tookNs)}`] : []),
        ].join(', '),
      ),
    },
    {
      label: 'with',
      text: shown(
        Object.entries(recipe.versions)
          .map(([name, version]) => `${name} ${version}`)
          .join(', '),
      ),
    },
  ];
  if (recipe.window)
    facts.push({ label: 'requested', text: `iterations ${recipe.window.first}-${recipe.window.last}` });
  if (recipe.stoppedBy || recipe.status !== 0)
    facts.push({
      label: 'ended',
      text: shown(
        [
          recipe.stoppedBy ? `stopped by ${recipe.stoppedBy}` : '',
          recipe.status === null ? '' : `status ${recipe.status}`,
        ]
          .filter(Boolean)
          .join(', ') || 'still running',
      ),
      tone: 'quiet',
    });
  return { kind: 'facts', id: 'recipe', title: 'Recipe', facts };
}

const shown = (text: string): string => {
  const plain = printable(text);
  return plain.length > MOST_CHARACTERS ? `${plain.slice(0, MOST_CHARACTERS)}…` : plain;
};
