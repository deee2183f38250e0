/** --plugin and the configuration of the folder, for every command. */

import { loadPlugins } from '../plugins/load-plugins.js';
import { countPluginFailure } from '../plugins/plugin-failures.js';
import type { Output } from './output.js';

export async function installPlugins(
  files: readonly string[],
  config: string | undefined,
  output: Output,
): Promise<void> {
  // A plugin that is a function gets the classes and registries of this very process.
  const api = await import('../library/index.js');
  await loadPlugins(files, config, api, (plugin, what, error) => {
    if (countPluginFailure(plugin, what, error))
      output.err(
        `note: plugin ${plugin}: ${what} failed: ${String((error as Error | undefined)?.message ?? error).split('\n')[0]}\n`,
      );
  });
}
