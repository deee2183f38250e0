/** Shows an address in the user's browser. Where that does not work, the address is printed anyway. */
import { spawn } from 'node:child_process';

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

export function openBrowser(url: string): void {
  const found = browserCommand(url);
  if (!found) return;
  const [command, ...args] = found;
  const child = spawn(command, args, { detached: true, stdio: 'ignore' });
  child.on('error', () => {});
  child.unref();
}
