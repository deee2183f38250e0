/**
 * Plugins that the user names with --plugin, and the configuration in the folder the command was started in. Code is
 * loaded from nowhere else: not from parent folders, not from folders of profiles.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import { UserError } from '../base/user-error.js';
import { parseUserRules } from '../catalog/kernels/user-rules.js';
import { installPlugin } from './install-plugin.js';
import type { PluginFailed } from './plugin.js';

/** `api`: what the library exports, for plugins that are functions. */
export async function loadPlugins(
  files: readonly string[],
  config: string | undefined,
  api: object,
  failed: PluginFailed,
): Promise<void> {
  const named = config === undefined ? [] : await readConfig(config, api, failed);
  for (const file of [...named, ...files]) {
    const place = path.resolve(file);
    if (!fs.existsSync(place))
      throw new UserError(
        'not-found',
        `The plugin ${file} does not exist.`,
        'Check the path after --plugin.',
      );
    await loadModule(place, api, failed);
  }
}

async function loadModule(file: string, api: object, failed: PluginFailed): Promise<void> {
  const name = path.basename(file);
  try {
    const { default: given } = await import(pathToFileURL(file).href);
    const made = typeof given === 'function' ? await given(api) : given;
    for (const plugin of Array.isArray(made) ? made : [made]) installPlugin(plugin, name, failed);
  } catch (error) {
    failed(name, 'loading', error);
  }
}

/** Plugins that a configuration names, by paths from its own folder. One with code is a plugin itself. */
async function readConfig(file: string, api: object, failed: PluginFailed): Promise<string[]> {
  if (!file.endsWith('.json')) {
    refuseStrangers(file);
    await loadModule(file, api, failed);
    return [];
  }
  let config: Record<string, unknown>;
  try {
    config = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    throw wrong(file, `is not JSON: ${(error as Error).message}`);
  }
  const { plugins = [], rules, markers = [], ...others } = config ?? {};
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw wrong(file, `has an unknown key ${JSON.stringify(unknown)}`);
  const isTexts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every(item => typeof item === 'string');
  if (!isTexts(plugins) || !isTexts(markers)) throw wrong(file, 'has a list that is not of texts');
  if (plugins.length > 0) refuseStrangers(file);
  installPlugin(
    {
      name: path.basename(file),
      kernelRules: rules === undefined ? [] : parseUserRules({ rules }),
      markers: markers.map(pattern => ({ pattern: patternOf(pattern, file) })),
    },
    path.basename(file),
    failed,
  );
  return plugins.map(plugin => path.resolve(path.dirname(file), plugin));
}

function patternOf(text: string, file: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw wrong(file, `has a marker that is not a regular expression: ${(error as Error).message}`);
  }
}

const wrong = (file: string, what: string) =>
  new UserError(
    'usage',
    `${file} ${what}.`,
    'Keys: plugins, rules, markers (docs/plugins.md). --no-config leaves it out.',
  );

/** Code that others could have put there is not run: in a shared folder one may start without looking. */
function refuseStrangers(file: string): void {
  if (process.getuid === undefined) return;
  const { uid, mode } = fs.statSync(file);
  if ((uid === process.getuid() || uid === 0) && (mode & 0o002) === 0) return;
  throw new UserError(
    'usage',
    `${file} belongs to another user or can be written by everyone, and is not run.`,
    'Copy it, or leave it out with --no-config.',
  );
}
