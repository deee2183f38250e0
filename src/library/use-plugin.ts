/** A plugin for programs that use the library; the command line has --plugin. */
import { installPlugin } from '../plugins/install-plugin.js';
import type { Plugin } from '../plugins/plugin.js';

/** Adds analyses, findings, kernel rules, importers and markers to this process. `onFailure` hears what they throw. */
export function usePlugin(
  plugin: Plugin,
  onFailure: (plugin: string, what: string, error: unknown) => void = () => {},
): void {
  installPlugin(plugin, plugin.name, onFailure);
}
