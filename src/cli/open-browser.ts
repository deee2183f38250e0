/** Shows an address in the user's browser. Where that does not work, the address is printed anyway. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTemporaryFolder } from '../disk/temporary-folder.js';
import { PRIVATE_MODE } from '../disk/write-whole.js';
import { escapeHtml } from '../report/html/escape.js';

/** What to run, without a shell; undefined where there is no screen to show a browser on. */
export function browserCommand(
  url: string,
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): readonly [command: string, ...args: string[]] | undefined {
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open', url] : undefined;
}

/** Through a page in a file of this user alone: the address holds a key, and command lines can be read by anyone. */
export function openBrowser(url: string): void {
  if (!browserCommand(url)) return;
  const page = path.join(makeTemporaryFolder('stepscope-open-'), 'open.html');
  fs.writeFileSync(page, pageFor(url), { mode: PRIVATE_MODE });
  const [command, ...args] = browserCommand(pathToFileURL(page).href)!;
  const child = spawn(command, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}

const pageFor = (url: string): string =>
  `<!doctype html><meta http-equiv="refresh" content="0;url=${escapeHtml(url)}"><title>Stepscope</title>`;
